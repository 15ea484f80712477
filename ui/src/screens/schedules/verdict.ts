/** How a tick is drawn: its colour is the outcome of its run, its shape the verdict. */

import type { LedgerEntry, Tick } from '../../../../src/api/tick.ts';
import { countText } from '../../words/count.ts';
import { durationText } from '../../words/duration.ts';
import { exactInstant } from '../../words/instant.ts';
import { hasEnded, STATE_ICONS, STATE_TONES } from '../../words/state.ts';

interface Look {
  icon: string;
  tone: string;
  words: string;
  /** The status of the run, or the verdict of a tick without one. */
  outcome: string;
  /** True if nothing ran: the cell is hollow. */
  hollow: boolean;
}

const NOT_RUN: Readonly<Record<Exclude<Tick['verdict'], 'ran'>, { icon: string; tone: string; words: string }>> = {
  skipped_overlap: { icon: '↷', tone: 'amber', words: 'skipped, because an earlier run had not ended' },
  missed: { icon: '!', tone: 'red', words: 'missed: no scheduler was running, and it was too late to catch up' },
  dropped: { icon: '⊘', tone: 'red', words: 'dropped: more ticks were missed than are caught up' },
  paused: { icon: '❚❚', tone: 'grey', words: 'paused' },
};

export function lookOf({ verdict, run }: LedgerEntry): Look {
  if (verdict !== 'ran') return { ...NOT_RUN[verdict], outcome: verdict, hollow: true };
  if (run === null) return { icon: '?', tone: 'grey', words: 'ran', outcome: 'unknown', hollow: false };
  const { status } = run;
  return {
    icon: STATE_ICONS[status] ?? '·',
    tone: STATE_TONES[status] ?? 'grey',
    words: status === 'done' ? 'succeeded' : status,
    outcome: status,
    hollow: false,
  };
}

/** One sentence about a tick: time, count, outcome, duration, lateness. */
export function tickSentence(tick: LedgerEntry): string {
  const when = exactInstant(Date.parse(tick.scheduled_for));
  const many =
    tick.count === 1
      ? ''
      : ` and ${countText(tick.count - 1, 'more', 'more')} to ${exactInstant(Date.parse(tick.through))}`;
  const kind = tick.kind === 'tick' ? '' : tick.kind === 'manual' ? ', started manually' : ', backfilled';
  const late = tick.lateness === null || tick.lateness < 1_000 ? '' : `, ${durationText(tick.lateness)} late`;
  const key = tick.key === null ? '' : ` for ${tick.key}`;
  const took = tookMs(tick);
  const duration = took === null ? '' : ` after ${durationText(took)}`;
  return `${when}${many}${key}: ${lookOf(tick).words}${duration}${kind}${tick.kind === 'tick' ? late : ''}`;
}

export function tookMs({ run }: LedgerEntry): number | null {
  if (run === null || run.started_at === null || run.ended_at === null) return null;
  return Date.parse(run.ended_at) - Date.parse(run.started_at);
}

/** The screen of its run; `null` if it has none, or retention has deleted it. */
export function runHref(tick: LedgerEntry): string | null {
  const { job_id, workflow_id } = tick;
  if (isDeleted(tick)) return null;
  if (job_id !== null) return `/jobs/${job_id}`;
  return workflow_id === null ? null : `/workflows/${workflow_id}`;
}

/** The ledger remembers the status of a run that retention has deleted, and nothing else of it. */
export function isDeleted({ run }: LedgerEntry): boolean {
  return run !== null && hasEnded(run.status) && run.ended_at === null;
}

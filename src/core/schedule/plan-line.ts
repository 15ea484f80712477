/** What a schedule does for one of its keys, decided: which rows the ledger gets, and what runs after what. */

import type { Notify } from '../notify.ts';
import { jitterMs } from './jitter.ts';
import { type Place, placeOf } from './overlap.ts';
import { ON_TIME_MS, planTicks } from './plan-ticks.ts';
import { recurrenceOf, unboundedOf } from './recurrence-of.ts';
import type { Schedule, ScheduleSpec } from './schedule.ts';
import type { TickKind, TickOfJob, TickVerdict } from './tick.ts';
import { listenersOf } from './tick-notices.ts';

/** The schedule for one key: how far its ticks have been judged. */
export interface Line {
  id: number;
  key: string;
  /** The last tick that has a verdict, or the instant from which ticks count. */
  cursor: number;
  /** The row of the newest tick, if its verdict may cover further ones. */
  tail: { tickId: number; verdict: TickVerdict } | null;
}

export interface LineRequest {
  /** The installation's, who want to hear of every schedule. */
  notify?: readonly Notify[];
  schedule: ScheduleSpec & Pick<Schedule, 'name' | 'pausedAt'>;
  line: Line;
  /** How many runs of this schedule and key have not ended. */
  open: number;
  now: number;
}

export interface PlannedRun {
  place: Exclude<Place, 'skip'>;
  /** Not before this instant; `null`: now. */
  runAt: number | null;
  tick: TickOfJob;
  /** Who is told of its end, beside what it says itself. */
  notify?: readonly Notify[];
}

export interface PlannedTick {
  kind: TickKind;
  key: string;
  scheduledFor: number;
  through: number;
  count: number;
  verdict: TickVerdict;
  latenessMs: number | null;
  /** Of a tick that ran. */
  run: PlannedRun | null;
  /** It is no row of its own, but adds to this one. */
  addsTo: number | null;
  /** Who may have to be told of it. */
  listeners?: readonly Notify[];
}

export interface LinePlan {
  line: Line;
  /** Oldest first. */
  ticks: PlannedTick[];
  /** The last tick judged. */
  cursor: number;
  /** When the next tick is due; `null`: never. */
  nextDue: number | null;
}

/** Judges the ticks of a line that are due, with at most `limit` rows, of which there is at least one where one is due. */
export function planLine(request: LineRequest, limit: number): LinePlan {
  const { schedule, line, open, now } = request;
  const recurrence = recurrenceOf(schedule);
  const { cursor, catchup, pausedAt } = { ...schedule, cursor: line.cursor };
  const { verdicts } = planTicks({ recurrence, cursor, now, catchup, pausedAt });
  const ticks: PlannedTick[] = [];
  let started = 0;
  for (const verdict of verdicts) {
    if (verdict.verdict !== 'ran') {
      add(ticks, line, { ...verdict, ...NO_RUN, key: line.key });
      continue;
    }
    const { scheduledFor, latenessMs, catchup: late } = verdict;
    const place = placeOf({ policy: schedule.overlap, open, started });
    if (place === 'skip') {
      const skipped = { scheduledFor, through: scheduledFor, count: 1, verdict: 'skipped_overlap' } as const;
      add(ticks, line, { ...skipped, ...NO_RUN, key: line.key });
      continue;
    }
    started += 1;
    const window = schedule.jitterMs;
    const runAt = window === 0 ? null : scheduledFor + jitterMs(schedule.name, line.key, window);
    const tick = tickOfJob(schedule, line, { kind: 'tick', scheduledFor, catchup: late });
    ticks.push({ ...ranAt(tick, line.key, latenessMs), run: { place, runAt, tick } });
  }
  const kept = cut(ticks, limit);
  const last = kept.at(-1)?.through ?? line.cursor;
  return { line, ticks: kept.map((tick) => heard(request, tick)), cursor: last, nextDue: recurrence.next(last) };
}

/** The same where nothing can be started: what would have run is missed. */
export function missInstead({ ticks, ...plan }: LinePlan): LinePlan {
  const missed: PlannedTick[] = [];
  for (const { addsTo: _, ...tick } of ticks) {
    const verdict = tick.run === null ? tick.verdict : 'missed';
    add(missed, plan.line, { ...tick, ...NO_RUN, verdict });
  }
  return { ...plan, ticks: missed };
}

/** A run that a person asks for now. It does not move the line. */
export function planManual(request: LineRequest): PlannedTick {
  const { schedule, line, open, now } = request;
  const place = placeOf({ policy: schedule.overlap, open, started: 0 });
  const at = { kind: 'manual', key: line.key, scheduledFor: now, through: now, count: 1, addsTo: null } as const;
  if (place === 'skip') return { ...at, verdict: 'skipped_overlap', latenessMs: null, run: null };
  const tick = tickOfJob(schedule, line, { kind: 'manual', scheduledFor: now, catchup: false });
  return heard(request, { ...at, verdict: 'ran', latenessMs: 0, run: { place, runAt: null, tick } });
}

/** Past ticks that a person makes up for, oldest first: one after the other and after all else, unless overlap is allowed. */
export function planBackfill(request: LineRequest, instants: readonly number[]): PlannedTick[] {
  const { schedule, line, open, now } = request;
  return instants.map((scheduledFor, index) => {
    const tick = tickOfJob(schedule, line, {
      kind: 'backfill',
      scheduledFor,
      catchup: now - scheduledFor > ON_TIME_MS,
    });
    const behind = index > 0 ? 'follow_previous' : open > 0 ? 'follow_open' : 'free';
    const place = schedule.overlap === 'allow' ? 'free' : behind;
    return heard(request, { ...ranAt(tick, line.key, now - scheduledFor), run: { place, runAt: null, tick } });
  });
}

/** With those who want to hear of it. What runs knows its own list already. */
function heard({ schedule, notify = [] }: LineRequest, tick: PlannedTick): PlannedTick {
  const run = tick.run === null ? null : { ...tick.run, notify: [...(schedule.notify ?? []), ...notify] };
  return { ...tick, run, listeners: listenersOf(schedule, notify) };
}

const NO_RUN = { kind: 'tick', latenessMs: null, run: null, addsTo: null } as const;

function ranAt(tick: TickOfJob, key: string, latenessMs: number): Omit<PlannedTick, 'run'> {
  const { kind, scheduledFor } = tick;
  return { kind, key, scheduledFor, through: scheduledFor, count: 1, verdict: 'ran', latenessMs, addsTo: null };
}

/** Neighbours with the same verdict are one row, also with the last row of the ledger. */
function add(ticks: PlannedTick[], { tail }: Line, tick: PlannedTick): void {
  const before = ticks.at(-1);
  if (before?.verdict === tick.verdict) {
    before.through = tick.through;
    before.count += tick.count;
  } else if (before === undefined && tail?.verdict === tick.verdict) ticks.push({ ...tick, addsTo: tail.tickId });
  else ticks.push(tick);
}

/** What does not run goes first, so that the runs of one catch-up stay together, however many they are. */
function cut(ticks: readonly PlannedTick[], limit: number): PlannedTick[] {
  if (ticks.length <= limit) return [...ticks];
  const firstRun = ticks.findIndex(({ run }) => run !== null);
  const lastRun = ticks.findLastIndex(({ run }) => run !== null);
  return ticks.slice(0, firstRun > 0 ? Math.min(firstRun, limit) : Math.max(limit, lastRun + 1));
}

function tickOfJob(
  schedule: LineRequest['schedule'],
  { id, key }: Line,
  { kind, scheduledFor, catchup }: Pick<TickOfJob, 'kind' | 'scheduledFor' | 'catchup'>,
): TickOfJob {
  return {
    schedule: schedule.name,
    line: id,
    key: schedule.forEach === null ? null : key,
    kind,
    scheduledFor,
    intervalStart: unboundedOf(schedule).previous(scheduledFor) ?? scheduledFor,
    intervalEnd: scheduledFor,
    catchup,
  };
}

/** The rows of the timeline: the runs of each schedule and of each workflow, and the ticks to come. */

import type { ScheduleDetail } from '../../../../src/api/schedule.ts';
import type { LedgerEntry } from '../../../../src/api/tick.ts';
import type { Timeline } from '../../../../src/api/timeline.ts';
import type { Workflow } from '../../../../src/api/workflow/workflow.ts';
import { dayText } from '../../words/instant.ts';
import { STATE_TONES } from '../../words/state.ts';
import { isFailing } from '../schedules/success-rate.tsx';
import { lookOf, runHref, tickSentence } from '../schedules/verdict.ts';

export interface Span {
  from: number;
  to: number;
}

export interface Mark {
  /** Positions from 0 to 1. */
  left: number;
  width: number;
  tone: string;
  /** The higher, the louder: the worst of several runs decides. */
  weight: number;
  hollow: boolean;
  href: string | null;
  text: string;
  count: number;
}

export interface Row {
  key: string;
  name: string;
  href: string;
  kind: 'schedule' | 'workflow';
  failing: boolean;
  /** The number of runs that are shown, and of those that failed. */
  runs: number;
  failed: number;
  marks: Mark[];
  /** Positions of the ticks to come. */
  next: { left: number; text: string }[];
  /** Sorts rows: what is due or ran last comes first. */
  recency: number;
}

const WEIGHTS: Readonly<Record<string, number>> = { red: 5, amber: 4, blue: 3, violet: 2, cyan: 2, green: 1, grey: 0 };
/** Marks closer than this are drawn as one. */
const MERGE = 0.004;
const MAX_NEXT = 60;

export function rowsOf(timeline: Timeline, workflows: readonly Workflow[], span: Span, now: number): Row[] {
  const scheduled = new Set(timeline.schedules.flatMap(({ ticks }) => ticks.map((tick) => tick.workflow_id)));
  const others = workflows.filter(({ id, created_at }) => !scheduled.has(id) && Date.parse(created_at) >= span.from);
  return [
    ...timeline.schedules.map((each) => scheduleRow(each, span, now)),
    ...[...Map.groupBy(others, ({ name }) => name)].map(([name, runs]) => workflowRow(name, runs, span, now)),
  ]
    .filter(({ marks, next }) => marks.length > 0 || next.length > 0)
    .sort((a, b) => Number(b.failing) - Number(a.failing) || b.recency - a.recency || (a.name < b.name ? -1 : 1));
}

function scheduleRow({ schedule, ticks, next }: Timeline['schedules'][number], span: Span, now: number): Row {
  const marks = ticks.map((tick) => tickMark(tick, span, now)).filter((mark) => mark !== null);
  const runs = ticks.filter(({ run }) => run !== null);
  const coming = next.map((at) => Date.parse(at)).filter((at) => at <= span.to);
  return {
    key: `schedule ${schedule.name}`,
    name: schedule.name,
    href: `/schedules/${schedule.name}`,
    kind: 'schedule',
    failing: isFailing(schedule) && schedule.paused_at === null,
    runs: runs.length,
    failed: runs.filter(({ run }) => run?.status === 'failed').length,
    marks: merged(marks),
    next: spaced(coming, span, schedule),
    recency: Date.parse(ticks[0]?.created_at ?? '') || 0,
  };
}

function workflowRow(name: string, runs: readonly Workflow[], span: Span, now: number): Row {
  const marks = runs.map((run): Mark => {
    const from = Date.parse(run.started_at ?? run.created_at);
    const to = run.ended_at === null ? now : Date.parse(run.ended_at);
    const tone = STATE_TONES[run.status] ?? 'grey';
    return {
      ...place({ from, to }, span),
      tone,
      weight: WEIGHTS[tone] ?? 0,
      hollow: false,
      href: `/workflows/${run.id}`,
      text: `${dayText(from)}: workflow ${run.id} ${run.status}`,
      count: 1,
    };
  });
  const [newest] = runs;
  return {
    key: `workflow ${name}`,
    name,
    href: `/workflows?name=${encodeURIComponent(name)}`,
    kind: 'workflow',
    failing: newest?.status === 'failed',
    runs: runs.length,
    failed: runs.filter(({ status }) => status === 'failed').length,
    marks: merged(marks),
    next: [],
    recency: Date.parse(newest?.created_at ?? '') || 0,
  };
}

function tickMark(tick: LedgerEntry, span: Span, now: number): Mark | null {
  const { run } = tick;
  const due = Date.parse(tick.kind === 'backfill' ? tick.created_at : tick.scheduled_for);
  const from = run === null || run.started_at === null ? due : Date.parse(run.started_at);
  const open = run !== null && run.ended_at === null && run.started_at !== null;
  const to = open ? now : run === null || run.ended_at === null ? from : Date.parse(run.ended_at);
  if (to < span.from) return null;
  const { tone, hollow } = lookOf(tick);
  const end = run === null ? Date.parse(tick.kind === 'tick' ? tick.through : tick.scheduled_for) : to;
  return {
    ...place({ from, to: Math.max(end, from) }, span),
    tone,
    weight: WEIGHTS[tone] ?? 0,
    hollow,
    href: runHref(tick),
    text: tickSentence(tick),
    count: tick.count,
  };
}

function place({ from, to }: Span, span: Span): { left: number; width: number } {
  const length = span.to - span.from;
  const left = Math.max(0, Math.min(1, (from - span.from) / length));
  return { left, width: Math.max(0, Math.min(1, (to - span.from) / length) - left) };
}

/** Draws neighbours that would overlap as one mark with the worst outcome among them. */
function merged(marks: readonly Mark[]): Mark[] {
  const result: Mark[] = [];
  for (const mark of marks.toSorted((a, b) => a.left - b.left)) {
    const last = result.at(-1);
    if (last === undefined || mark.left > last.left + last.width + MERGE) {
      result.push({ ...mark });
      continue;
    }
    const worst = mark.weight >= last.weight ? mark : last;
    last.width = Math.max(last.width, mark.left + mark.width - last.left);
    last.count += mark.count;
    Object.assign(last, { tone: worst.tone, weight: worst.weight, hollow: worst.hollow, href: worst.href });
    last.text = `${last.count} runs; the worst: ${worst.text.replace(/^\d+ runs; the worst: /, '')}`;
  }
  return result;
}

function spaced(times: readonly number[], span: Span, schedule: ScheduleDetail): Row['next'] {
  const shown: Row['next'] = [];
  for (const at of times) {
    const { left } = place({ from: at, to: at }, span);
    const last = shown.at(-1);
    if (last !== undefined && left - last.left < MERGE * 2) continue;
    if (shown.length < MAX_NEXT) shown.push({ left, text: `${schedule.name} is due ${dayText(at)}` });
  }
  return shown;
}

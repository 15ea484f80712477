/** The bars of the Gantt chart: when each step was free to run, its attempts, its items, and how it usually went. */

import type { Attempt, ListedJob } from '../../../../src/api/job.ts';
import type { StepState, WorkflowDetail } from '../../../../src/api/workflow/workflow.ts';

export interface Segment {
  from: number;
  to: number;
  state: string;
}

export interface ItemBar extends Segment {
  id: string;
  index: number | null;
  /** Items that overlap are in different layers. */
  layer: number;
}

export interface Bar {
  step: StepState;
  /** When all parents had ended. */
  free: number | null;
  /** Its attempts, in order. */
  runs: readonly Segment[];
  items: readonly ItemBar[];
}

/** How a step went in earlier runs, as medians. */
export interface Usual {
  /** From the start of the workflow. */
  afterMs: number;
  tookMs: number;
}

export interface GanttInput {
  workflow: WorkflowDetail;
  attempts: ReadonlyMap<string, readonly Attempt[]>;
  items: ReadonlyMap<string, readonly ListedJob[]>;
  now: number;
}

export function barsOf({ workflow, attempts, items, now }: GanttInput): Bar[] {
  const ends = new Map(workflow.steps.map((step) => [step.key, timeOf(step.done_at)]));
  return workflow.steps.map((step) => {
    const parents = step.depends_on.map((key) => ends.get(key) ?? null);
    const free = parents.includes(null)
      ? null
      : Math.max(Date.parse(step.created_at), ...parents.map((end) => end ?? 0));
    return {
      step,
      free,
      runs: runsOf(step, attempts.get(step.job_id) ?? [], now),
      items: inLanes(items.get(step.job_id) ?? [], now),
    };
  });
}

/** The ended attempts, and the one that runs. Without the attempts, one run from the last start to the end. */
function runsOf(step: StepState, attempts: readonly Attempt[], now: number): Segment[] {
  const start = timeOf(step.started_at);
  if (start === null) return [];
  const last = { from: start, to: timeOf(step.done_at) ?? Math.max(now, start), state: step.status };
  const ended = attempts.map(({ started_at, ended_at, outcome }) => ({
    from: Date.parse(started_at),
    to: Date.parse(ended_at),
    state: outcome,
  }));
  if (ended.length === 0) return [last];
  return step.status === 'running' ? [...ended, last] : ended;
}

/** Each item in the first layer that is free when it starts, so that the number of layers is how many ran at once. */
function inLanes(jobs: readonly ListedJob[], now: number): ItemBar[] {
  const ends: number[] = [];
  return jobs
    .flatMap((job) => {
      const from = timeOf(job.started_at);
      const to = timeOf(job.done_at) ?? now;
      return from === null ? [] : [{ id: job.id, index: job.index, from, to: Math.max(from, to), state: job.status }];
    })
    .sort((a, b) => a.from - b.from || a.to - b.to)
    .map((item) => {
      const found = ends.findIndex((end) => end <= item.from);
      const layer = found === -1 ? ends.length : found;
      ends[layer] = item.to;
      return { ...item, layer };
    });
}

/** The medians of the steps of earlier runs that succeeded, by key. */
export function usualOf(runs: readonly WorkflowDetail[]): ReadonlyMap<string, Usual> {
  const seen = new Map<string, { after: number[]; took: number[] }>();
  for (const run of runs) {
    const begin = Date.parse(run.created_at);
    for (const { key, status, started_at, done_at } of run.steps) {
      if (status !== 'done' || started_at === null || done_at === null) continue;
      const { after, took } = seen.get(key) ?? { after: [], took: [] };
      after.push(Date.parse(started_at) - begin);
      took.push(Date.parse(done_at) - Date.parse(started_at));
      seen.set(key, { after, took });
    }
  }
  return new Map(
    [...seen].map(([key, { after, took }]) => [key, { afterMs: median(after), tookMs: median(took) }] as const),
  );
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2;
}

function timeOf(instant: string | null): number | null {
  return instant === null ? null : Date.parse(instant);
}

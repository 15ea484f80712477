/** Facts about all steps of a new workflow that must be known before the first one is inserted. */

import type { NewStep, NewSteps } from '../../../core/dag/new-workflow.ts';
import { laneKey, laneOf } from '../../../core/lane.ts';

/** Steps that are inserted together. */
export const STEPS_PER_PIECE = 500;

export interface Outline {
  /** The number of steps. */
  total: number;
  /** Keys of the lanes. */
  lanes: string[];
  /** Queues of steps with a fair key. */
  fairQueues: string[];
  /** Jobs whose results are kept. */
  kept: number[];
  /** 1 for a step that has children, by its place in the list. */
  hasChildren: Uint8Array;
  /** The earliest `runAt` and the shortest delay of the steps. */
  runAt: number;
  delayMs: number;
}

/** The caller may pause wherever it yields: there may be 100,000 steps. */
export function* outline(steps: NewSteps): Generator<undefined, Outline> {
  const [lanes, fairQueues] = [new Set<string>(), new Set<string>()];
  const kept: number[] = [];
  const hasChildren = new Uint8Array(steps.length);
  let [runAt, delayMs, seen] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, 0];
  for (const { job, parents, keepFrom } of steps) {
    lanes.add(laneKey(laneOf(job)));
    if (job.fairKey !== null) fairQueues.add(job.queue);
    if (keepFrom !== null) kept.push(keepFrom);
    for (const parent of parents) hasChildren[parent] = 1;
    if (job.runAt !== null) runAt = Math.min(runAt, job.runAt);
    else if (job.delayMs !== null) delayMs = Math.min(delayMs, job.delayMs);
    seen += 1;
    if (seen % STEPS_PER_PIECE === 0) yield;
  }
  return { total: steps.length, lanes: [...lanes], fairQueues: [...fairQueues], kept, hasChildren, runAt, delayMs };
}

/** Takes what a generator returns, at once. */
export function atOnce<T>(work: Generator<unknown, T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}

/** A new workflow with its steps in pieces, which are read once. */
export type Pieces = Iterable<readonly NewStep[]>;

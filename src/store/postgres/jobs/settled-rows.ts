/** The parameters and the answer of the statements that settle. */

import type { Success } from '../../../core/lease.ts';
import { jsons, numbers } from '../base/values.ts';

export interface EndedRow {
  job_id: number;
  attempt: number;
  worker_id: number;
  lane: number;
  due: number;
  started_at: number;
  now: number;
}

/** Arrays of equal length, one element per job; `null` if no job was ended. */
export interface EndedColumns {
  now: number;
  ids: number[] | null;
  attempts: number[];
  workers: number[];
  lanes: number[];
  dues: number[];
  starts: number[];
}

export function columnsOf(successes: readonly Success[]): unknown[] {
  return [
    numbers(successes.map(({ jobId }) => jobId)),
    numbers(successes.map(({ attempt }) => attempt)),
    numbers(successes.map(({ workerId }) => workerId)),
    numbers(successes.map(({ exitCode }) => exitCode)),
    jsons(successes.map(({ result }) => result)),
    numbers(successes.map(({ startedAt }) => startedAt ?? null)),
  ];
}

export function rowsOf({ now, ids, attempts, workers, lanes, dues, starts }: EndedColumns): EndedRow[] {
  return (ids ?? []).map((jobId, place) => ({
    job_id: jobId,
    attempt: attempts[place] as number,
    worker_id: workers[place] as number,
    lane: lanes[place] as number,
    due: dues[place] as number,
    started_at: starts[place] as number,
    now,
  }));
}

/** The parameters and the answer of the statements that settle. */

import type { Success } from '../../../core/lease.ts';
import { jsonsIfAny, numbers, numbersIfAny } from '../base/values.ts';
import type { Lanes } from './lanes.ts';

export interface EndedRow {
  job_id: number;
  attempt: number;
  worker_id: number;
  queue: string;
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
    numbersIfAny(successes.map(({ exitCode }) => exitCode)),
    jsonsIfAny(successes.map(({ result }) => result)),
    numbersIfAny(successes.map(({ startedAt }) => startedAt ?? null)),
    numbersIfAny(successes.map(({ usage }) => usage?.cpuMs ?? null)),
    numbersIfAny(successes.map(({ usage }) => usage?.maxRssBytes ?? null)),
  ];
}

/** The parameters of `settleAlike`; `undefined` unless the jobs differ in nothing but their ids and starts. */
export function alikeColumnsOf(successes: readonly Success[]): unknown[] | undefined {
  const { attempt, workerId, exitCode } = successes[0] as Success;
  for (const other of successes) {
    if (other.attempt !== attempt || other.workerId !== workerId || other.exitCode !== exitCode) return undefined;
    if (other.result != null || other.usage !== undefined) return undefined;
  }
  const ids = numbers(successes.map(({ jobId }) => jobId));
  return [ids, attempt, workerId, exitCode, numbersIfAny(successes.map(({ startedAt }) => startedAt ?? null))];
}

/** Reads lanes that this process does not know yet. If that fails, their queue is not named: the jobs have ended all the same. */
export async function rowsOf(known: Lanes, columns: EndedColumns, signal: AbortSignal): Promise<EndedRow[]> {
  const { now, ids, attempts, workers, lanes, dues, starts } = columns;
  if (ids === null) return [];
  if (lanes.some((lane) => known.lane(lane) === undefined)) {
    await known.refresh(signal).catch(() => undefined);
  }
  return ids.map((jobId, place) => ({
    job_id: jobId,
    attempt: attempts[place] as number,
    worker_id: workers[place] as number,
    queue: known.lane(lanes[place] as number)?.queue ?? '',
    due: dues[place] as number,
    started_at: starts[place] as number,
    now,
  }));
}

/** Encodes successes for the writer's thread, and decodes its answer. */

import type { Settled, Success } from '../../../core/lease.ts';
import { idOf } from '../reads/job-row.ts';
import type { SettledRow, SuccessRow } from './settle.ts';

export function encodeSuccess({ jobId, attempt, workerId, exitCode, startedAt, result }: Success): SuccessRow {
  const text = result === undefined || result === null ? null : JSON.stringify(result);
  return [jobId, attempt, workerId, exitCode, text, startedAt === undefined ? null : Math.round(startedAt)];
}

/** A success that is not among the settled has lost its lease; one that is there twice repeats the first. */
export function settledInOrder(successes: readonly Success[], settled: readonly SettledRow[]): Settled[] {
  const rows = new Map(settled.map((row) => [idOf(row), row]));
  const answered = new Set<number>();
  return successes.map(({ jobId, attempt, workerId }) => {
    const row = rows.get(jobId);
    if (row === undefined) return { result: 'lease_lost' };
    const [, settledAttempt, settledWorker, fresh, queue, dueAt, startedAt, endedAt] = row;
    if (settledAttempt !== attempt || settledWorker !== workerId) return { result: 'lease_lost' };
    const repeats = answered.has(jobId);
    answered.add(jobId);
    return { result: 'ok', fresh: fresh && !repeats, queue, dueAt, startedAt, endedAt };
  });
}

/** Jobs on their way in. The plain ones need no lock: one statement stores a whole batch. */

import type { NewJob } from '../../core/job.ts';
import { laneKey, laneOf } from '../../core/lane.ts';
import type { Inserted, InsertOptions } from '../store.ts';
import type { Context } from './context.ts';
import { insertGuarded } from './insert-guarded.ts';
import { announce, insertRows, PIECE } from './insert-rows.ts';

export async function insert(
  context: Context,
  jobs: readonly NewJob[],
  options: InsertOptions,
  signal: AbortSignal,
): Promise<Inserted> {
  const lanes = await lanesOf(context, jobs, signal);
  if (options.idempotency !== undefined || jobs.some((job) => job.unique !== null || job.dependsOn.length > 0)) {
    return await insertGuarded(context, { jobs, lanes, options }, signal);
  }
  const { database } = context;
  const stored =
    jobs.length <= PIECE
      ? await insertRows(context, { query: (sql, values = []) => database.query(sql, values, signal) }, jobs, lanes)
      : await database.transaction(signal, (session) => insertRows(context, session, jobs, lanes));
  announce(context, stored);
  return { items: stored.map((job) => ({ job, deduplicated: false })), replayed: false };
}

function lanesOf({ lanes }: Context, jobs: readonly NewJob[], signal: AbortSignal): Promise<number[]> {
  return lanes.idsOf(
    jobs.map((job) => laneKey(laneOf(job))),
    signal,
  );
}

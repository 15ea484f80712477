/** Inserts jobs. Jobs without keys and parents need no lock: one statement stores a batch. */

import type { Job, NewJob } from '../../../core/job.ts';
import { laneKeysOf } from '../../../core/lane.ts';
import { isPending } from '../../engine/standing.ts';
import { giveTurnsTo } from '../../engine/turns.ts';
import type { Inserted, JobInsertOptions } from '../../job-store.ts';
import { anyOf, locking, sql } from '../../sql/sql.ts';
import type { Context } from '../base/context.ts';
import type { Session } from '../base/database.ts';
import { txOn } from '../base/engine.ts';
import { insertGuarded } from './insert-guarded.ts';
import { announce, insertRows, PIECE } from './insert-rows.ts';

export async function insert(
  context: Context,
  jobs: readonly NewJob[],
  options: JobInsertOptions,
  signal: AbortSignal,
): Promise<Inserted> {
  const lanes = await lanesOf(context, jobs, signal);
  const hasOptions = options.idempotency !== undefined || options.rerunOf !== undefined;
  if (hasOptions || jobs.some((job) => job.unique !== null || job.dependsOn.length > 0)) {
    return await insertGuarded(context, { jobs, lanes, options }, signal);
  }
  const batch = { jobs, lanes };
  const inTurn = takesTurns(context, jobs);
  const workSent = !inTurn && jobs.length <= PIECE && jobs.some(isDueAtOnce);
  const stored = inTurn
    ? await insertInTurn(context, batch, signal)
    : await insertPlain(context, batch, { tellOthers: workSent }, signal);
  announce(context, stored, { workSent });
  return { items: stored.map((job) => ({ job, deduplicated: false })), replayed: false };
}

interface Batch {
  jobs: readonly NewJob[];
  /** The lane of each job. */
  lanes: readonly number[];
}

/** `tellOthers`: other processes are told of the work right behind the statement that stores it. */
async function insertPlain(
  context: Context,
  { jobs, lanes }: Batch,
  { tellOthers }: { tellOthers: boolean },
  signal: AbortSignal,
): Promise<Job[]> {
  const { database, announceWork } = context;
  const single: Session = {
    query: (sql, values = []) =>
      tellOthers ? database.queryThen(sql, values, announceWork, signal) : database.query(sql, values, signal),
  };
  const stored =
    jobs.length <= PIECE
      ? await insertRows(context, single, jobs, lanes)
      : await database.transaction(signal, (session) => insertRows(context, session, jobs, lanes));
  await giveLateTurns(context, stored, signal);
  return stored;
}

function isDueAtOnce({ runAt, delayMs }: NewJob): boolean {
  return runAt === null && delayMs === null;
}

/** Gives turns to jobs that were stored before this process knew that their queue takes turns. */
export async function giveLateTurns(context: Context, stored: readonly Job[], signal: AbortSignal): Promise<void> {
  if (!takesTurns(context, stored)) return;
  await context.database.transaction(signal, async (session) => {
    const jobIds = stored.map(({ id }) => id);
    const tx = txOn(context, session);
    await tx.lockRows(sql`select job_id from live where job_id ${anyOf(jobIds)} and ${isPending('live')}
      order by job_id ${locking('for update')}`);
    await giveTurnsTo(tx, jobIds, []);
  });
}

async function insertInTurn(context: Context, { jobs, lanes }: Batch, signal: AbortSignal): Promise<Job[]> {
  const queues = jobs.flatMap(({ fairKey, queue }) => (fairKey === null ? [] : queue));
  const stored = await context.database.transaction(signal, async (session) => {
    const rows = await insertRows(context, session, jobs, lanes);
    await giveTurnsTo(
      txOn(context, session),
      rows.map(({ id }) => id),
      queues,
    );
    return rows;
  });
  context.fairQueues.learn(queues);
  return stored;
}

export function takesTurns({ fairQueues }: Context, jobs: readonly Pick<NewJob, 'fairKey' | 'queue'>[]): boolean {
  return jobs.some(({ fairKey, queue }) => fairKey !== null || fairQueues.has(queue));
}

export function lanesOf({ lanes }: Context, jobs: readonly NewJob[], signal: AbortSignal): Promise<number[]> {
  return lanes.idsOf(laneKeysOf(jobs), signal);
}

/** Jobs that the background duties look for: those that are due, late or lost. */

import type { Job } from '../../core/job.ts';
import type { HeldLease } from '../../core/lease.ts';
import type { QueueSettings } from '../../core/queue.ts';
import type { LostJob, LostRequest, Promoted } from '../duty-store.ts';
import { columns } from '../sql/columns.ts';
import { anyFrom, anyOf, listOf, locking, msOf, now, raw, spelled, sql } from '../sql/sql.ts';
import { many, one, type Stages, staged, type Tx } from '../sql/tx.ts';
import { readQueueRooms } from './meter-use.ts';
import { nextOpening, openDueParkings } from './parkings.ts';
import { readJobs } from './reads.ts';
import { fromHeld, isPending, listed, lookedUp } from './standing.ts';
import { giveTurnsTo } from './turns.ts';

interface Look {
  due: number | null;
  now: number;
  fair: string[];
  metered: boolean;
}

const lookRow = columns<Look>({ due: 'instant', now: 'instant', fair: 'json', metered: 'bool' });
const idRow = columns<{ jobId: number }>({ jobId: 'bigint' });
const lostRow = columns<{ jobId: number; seenAt: number }>({ jobId: 'bigint', seenAt: 'real' });
const lease = columns<HeldLease>({ workerId: 'int', jobId: 'bigint', heardAt: 'instant', leaseMs: 'bigint' });
const ratedQueue = columns<{ name: string; rate: QueueSettings['rate'] }>({ name: 'text', rate: 'json' });
const queueRow = columns<{ queue: string }>({ queue: 'text' });

/** An idle instance makes no more than the first look, if there are no meters. */
async function promote(stages: Stages, limit: number): Promise<Promoted> {
  const { due, now: instant, fair, metered } = await look(stages.tx);
  const opening = metered ? await openMeters(stages.tx) : null;
  if (due === null || due > instant) return { count: 0, nextDueAt: earlier(due, opening) };
  const count = await stages.write((tx) => promoteDue(tx, fair, limit));
  // Read in a later statement: the one that promotes still sees the old rows.
  return { count, nextDueAt: earlier((await look(stages.tx)).due, opening) };
}

async function look(tx: Tx): Promise<Look> {
  const row = await tx.get(
    lookRow,
    sql`select (select min(due) from live where ${listed} = 'scheduled') as due, ${now} as now,
      ${listOf(sql`select name as value from fair_queue`)} as fair,
      exists (select 1 from parking) or exists (select 1 from queue where rate is not null) as metered`,
  );
  return row as Look;
}

/** `fair`: the queues whose jobs take turns. Other processes may have made them. */
async function promoteDue(tx: Tx, fair: readonly string[], limit: number): Promise<number> {
  const due = sql`select job_id from live where ${listed} = 'scheduled' and due <= ${now}
    order by due, job_id limit ${limit} ${locking('for update skip locked')}`;
  const rows = await tx.all(
    idRow,
    sql`update live set ${listed} = 'pending' where job_id ${anyFrom(due)} returning job_id`,
  );
  const jobIds = rows.map(({ jobId }) => jobId);
  if (jobIds.length > 0) tx.effects.madeWork();
  for (const jobId of jobIds) tx.effects.changedJob(jobId);
  await giveTurnsTo(tx, jobIds, fair);
  return jobIds.length;
}

/** Announces rates that allow starts again. Returns when the next one will. */
async function openMeters(tx: Tx): Promise<number | null> {
  let next = await nextOpening(tx);
  if (next.at !== null && next.at <= next.now) {
    if (await openDueParkings(tx)) tx.effects.madeRoom();
    next = await nextOpening(tx);
  }
  const rated = await tx.all(ratedQueue, sql`select ${ratedQueue} from queue where rate is not null`);
  if (rated.length === 0) return next.at;
  const { rooms } = await readQueueRooms(tx, rated);
  const names = rated.map(({ name }) => name);
  const waiting = await tx.all(
    queueRow,
    sql`select distinct n.queue from any_lane n where n.queue ${anyOf(names, 'text')}
      and exists (select 1 from live l where l.lane = n.id and ${isPending('l')} ${lookedUp})`,
  );
  const openings = waiting.map(({ queue }) => rooms.get(queue)?.opensAt ?? null);
  if (openings.includes(null)) tx.effects.madeRoom();
  return openings.reduce(earlier, next.at);
}

/** `null`: never. */
export function earlier(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.min(a, b);
}

async function findExpired(tx: Tx, limit: number): Promise<Job[]> {
  const isWaiting = spelled({ sqlite: sql`true`, postgres: sql`not claimed` });
  const rows = await tx.all(
    idRow,
    sql`select job_id from live where expires_at <= ${now} and ${isWaiting} and ${listed} in ('pending', 'scheduled')
      order by expires_at, job_id limit ${limit}`,
  );
  const jobs = await readAll(tx, rows);
  // Some may have started between the two reads.
  return jobs.filter(({ expiresAt }) => expiresAt !== null);
}

/** True of held jobs `l` whose lease is not their worker's. On PostgreSQL their claims need not be opened. */
const renewsAlone = spelled({ sqlite: raw('l.renewed_at is not null'), postgres: raw('c.seq is null') });

async function leases(tx: Tx): Promise<HeldLease[]> {
  const rows = await tx.all(
    lease,
    sql`select w.id as worker_id, 0 as job_id, w.seen_at as heard_at, w.lease_ms from worker w
        where w.state <> 'offline' or exists (select 1 ${fromHeld(sql`= w.id`)})
      union all
      select w.id, h.job_id, h.renewed_at, w.lease_ms from worker w join (
        select l.job_id, l.worker_id, l.renewed_at ${fromHeld(sql`is not null`)} and ${renewsAlone}) h
        on h.worker_id = w.id where h.renewed_at is not null`,
  );
  return rows.map((row) => ({ ...row, jobId: row.jobId || null }));
}

/** The worker's lease is looked at first: on PostgreSQL most claims need not be opened. No job has the id 0. */
async function findLost(tx: Tx, { limit, dead = [], silent = [] }: LostRequest): Promise<LostJob[]> {
  const given = silent.map(({ workerId, jobId, heardAt }) => ({ workerId, jobId: jobId ?? 0, heardAt }));
  const isSilent =
    given.length === 0
      ? sql`false`
      : sql`(w.id, case when h.renewed_at is null then 0 else h.job_id end, coalesce(h.renewed_at, w.seen_at)) in ${lease.input(given)}`;
  const holder = spelled({ sqlite: raw('l.worker_id'), postgres: raw('c.worker_id') });
  const suspects = [...dead, ...silent.map(({ workerId }) => workerId)];
  const rows = await tx.all(
    lostRow,
    sql`select h.job_id, coalesce(${msOf('w.seen_at')}, 0) as seen_at from (
        select distinct l.job_id, l.worker_id, l.renewed_at ${fromHeld(sql`is not null`)} and (${renewsAlone}
          or ${holder} ${anyOf(suspects)} or not exists (select 1 from worker w where w.id = ${holder}))) h
        left join worker w on w.id = h.worker_id
      where w.id is null or w.id ${anyOf(dead)} or ${isSilent} order by h.job_id limit ${limit}`,
  );
  const seenAt = new Map(rows.map((row) => [row.jobId, row.seenAt]));
  const jobs = await readAll(tx, rows);
  return jobs
    .filter(({ status }) => status === 'running')
    .map((job) => ({ job, workerSeenAt: seenAt.get(job.id) as number }));
}

async function readAll(tx: Tx, rows: readonly { jobId: number }[]): Promise<Job[]> {
  if (rows.length === 0) return [];
  return await readJobs(
    tx,
    rows.map(({ jobId }) => jobId),
  );
}

export const dutyMethods = {
  promote: staged('write', promote),
  findExpired: many('urgent', findExpired),
  leases: one('urgent', leases),
  findLost: many('urgent', findLost),
};

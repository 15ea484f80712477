/** Retention: ended jobs and workflows are deleted by age, or because a person asks for it. */

import type { TerminalStatus } from '../../core/job.ts';
import type { Retention } from '../duty-store.ts';
import { columns } from '../sql/columns.ts';
import {
  after,
  anyFrom,
  anyOf,
  at,
  type Fragment,
  locking,
  now,
  raw,
  type Spelling,
  spelled,
  sql,
} from '../sql/sql.ts';
import { inTurn, many, type Stages, staged, type Tx } from '../sql/tx.ts';
import { CREATION_SLACK_MS, lastJobBefore } from './list-bounds.ts';
import { isFinal, lookedUp } from './standing.ts';

/** Ended jobs read at once. */
const WINDOW = 20_000;
/** Windows that each call reads from the first job on, and then from where the last call stopped. */
const WINDOWS = 10;
/** Jobs deleted per statement. */
const PIECE = 5_000;

interface Old {
  /** By status. */
  jobs: number[][];
  workflows: number[];
}

const idRow = columns<{ id: number }>({ id: 'bigint' });
const jobRow = columns<{ jobId: number }>({ jobId: 'bigint' });
const looked = jobRow.with<{ jobId: number; endedAt: number; last: number; looked: number }>({
  endedAt: 'instant',
  last: 'bigint',
  looked: 'bigint',
});

/** True if an unfinished job depends on it. */
function isNeeded(id: string): Fragment {
  return sql`exists (select 1 from edge e where e.parent_id = ${raw(id)}
    and exists (select 1 from live l where l.job_id = e.child_id ${lookedUp}) ${lookedUp})`;
}

/** Steps of workflows are deleted with their workflow. */
function standsAlone(id: string): Fragment {
  return sql`not ${isNeeded(id)} and not exists (
    select 1 from job j where j.id = ${raw(id)} and j.workflow_id is not null ${lookedUp})`;
}

/** True if the notifications of an end have not been written yet. */
function hasNotice(column: 'job_id' | 'workflow_id', id: string): Spelling {
  return spelled({
    sqlite: raw(`${id} in (select n.${column} from notice n where n.kind = 'ended' and n.${column} is not null)`),
    postgres: raw(`exists (select 1 from notice n where n.kind = 'ended' and n.${column} = ${id} offset 0)`),
  });
}

/** True if job `r` or workflow `w` ended so long ago that it is to be deleted. */
function isOld(row: 'r' | 'w', { doneMs, otherMs }: Retention): Fragment {
  return sql`${raw(row)}.ended_at < case when ${raw(row)}.status = 'done' then ${after(now, -doneMs)} else ${after(now, -otherMs)} end`;
}

async function findOld(tx: Tx, { doneMs, otherMs }: Retention, limit: number): Promise<Old> {
  const instant = await tx.instant();
  const old: Old = { jobs: [], workflows: [] };
  const failures: unknown[] = [];
  const ends = [
    { before: instant - doneMs, statuses: ['done'] as const },
    { before: instant - otherMs, statuses: ['failed', 'cancelled', 'skipped'] as const },
  ].sort((a, b) => b.before - a.before);
  let upTo = Infinity;
  for (const { before, statuses } of ends) {
    try {
      // A job that ended before an instant was created before it: younger ones are not looked at.
      if (upTo > 0) upTo = (await tx.get(idRow, lastJobBefore(at(before + CREATION_SLACK_MS))))?.id ?? 0;
      for (const status of statuses) {
        old.jobs.push(await findEnded(tx, { status, before, upTo, limit: limit - old.jobs.flat().length }));
      }
      for (const status of statuses) {
        if (status !== 'skipped') old.workflows.push(...(await findWorkflows(tx, { status, before, limit })));
      }
    } catch (error) {
      failures.push(error);
    }
  }
  const jobs = old.jobs.filter((ids) => ids.length > 0);
  if (jobs.length + old.workflows.length > 0) return { ...old, jobs };
  if (failures.length > 0) throw failures[0];
  // A leader whose term is over is refused, also if there is nothing to delete.
  return { jobs: [[]], workflows: [] };
}

interface Ended {
  status: TerminalStatus;
  /** The jobs that ended before this instant. */
  before: number;
  upTo: number;
  limit: number;
}

/**
 * Ended jobs are deleted by age, but walked by id, for which there is an index: an index by age would have to be maintained
 * on the hot path. Jobs end roughly in the order of their ids, so each call meets the oldest first. Where many jobs are kept that were
 * created as early, steps of a workflow for example, it goes on from call to call until it has been through all.
 */
async function findEnded(tx: Tx, { status, before, upTo, limit }: Ended): Promise<number[]> {
  const found: number[] = [];
  const place = `prune ${status}`;
  let passed = 0;
  if (upTo === 0) return found;
  for (let windows = 0; windows < 2 * WINDOWS && found.length < limit; windows += 1) {
    if (windows === WINDOWS) passed = Math.max(passed, (tx.notes.get(place) as number | undefined) ?? 0);
    const window = sql`select job_id, ended_at from run where ${isEndedAs(status)} and job_id > ${passed} and job_id <= ${upTo}
      order by job_id limit ${WINDOW}`;
    const rows = await tx.all(
      looked,
      sql`select c.job_id, c.ended_at, c.last, c.looked from (
          select e.job_id, e.ended_at, max(e.job_id) over () as last, count(*) over () as looked from (${window}) e) c
        where (c.ended_at < ${at(before)} and ${standsAlone('c.job_id')}) or c.job_id = c.last
        order by c.job_id limit ${limit - found.length}`,
    );
    found.push(...rows.filter(({ endedAt }) => endedAt < before).map(({ jobId }) => jobId));
    const [first] = rows;
    if (first === undefined || first.looked < WINDOW) {
      tx.notes.delete(place);
      break;
    }
    passed = first.last;
    if (windows >= WINDOWS) tx.notes.set(place, passed);
  }
  return found;
}

/** By the index that has the jobs with this end by id. */
function isEndedAs(status: TerminalStatus): Spelling {
  const postgres =
    status === 'done' ? sql`coalesce(status, '') = 'done'` : sql`status = ${status} and status <> 'done'`;
  return spelled({ sqlite: sql`status = ${status}`, postgres });
}

async function findWorkflows(tx: Tx, { status, before, limit }: Omit<Ended, 'upTo'>): Promise<number[]> {
  const rows = await tx.all(
    idRow,
    sql`select w.id from workflow w where w.status = ${status} and w.ended_at < ${at(before)}
      and not exists (select 1 from job j where j.workflow_id = w.id and ${isNeeded('j.id')} ${lookedUp})
      order by w.ended_at limit ${limit}`,
  );
  return rows.map(({ id }) => id);
}

/** Each workflow is deleted as a whole, so the last one may exceed the limit. What fails does not keep the rest. */
async function prune(stages: Stages, retention: Retention, limit: number, old: Old): Promise<number> {
  const failures: unknown[] = [];
  const removed = async (remove: (tx: Tx) => Promise<number>) => {
    try {
      return await stages.write(remove);
    } catch (error) {
      if (!stages.goesOn()) throw error;
      failures.push(error);
      return 0;
    }
  };
  let count = 0;
  for (const ids of old.jobs) count += await removed((tx) => pruneJobs(tx, ids, retention));
  for (const id of old.workflows) {
    if (count >= limit) break;
    count += await removed(async (tx) => (await removeWorkflow(tx, id, { isEnded: isOld('w', retention) })) ?? 0);
  }
  if (failures.length > 0) throw failures[0];
  return count;
}

/** Filters again: a job may have been retried since it was found. Adding a child to an ended job takes the same lock. */
async function pruneJobs(tx: Tx, ids: readonly number[], retention: Retention): Promise<number> {
  const locked = await tx.all(
    jobRow,
    sql`select r.job_id from run r where r.job_id ${anyOf(ids)} and ${isFinal('r')} and ${isOld('r', retention)}
      order by r.job_id ${locking('for update skip locked')}`,
  );
  return (
    await removeAlone(
      tx,
      locked.map(({ jobId }) => jobId),
      sql`true`,
    )
  ).length;
}

async function deleteJobs(tx: Tx, ids: readonly number[]): Promise<number[]> {
  const isFree = sql`not ${hasNotice('job_id', 'd.id')} and d.spec -> 'gang' is null`;
  return await removeAlone(tx, await lockEnded(tx, ids), isFree);
}

/** The ended jobs among these. They are locked; what depends on the locks is read in a later statement. */
async function lockEnded(tx: Tx, ids: readonly number[]): Promise<number[]> {
  const rows = await tx.all(
    jobRow,
    sql`select r.job_id from run r where r.job_id ${anyOf(ids)} and ${isFinal('r')}
      order by r.job_id ${locking('for update')}`,
  );
  return rows.map(({ jobId }) => jobId);
}

/** Deletes those of these ended jobs `d` that stand alone and may be deleted, and returns their ids. */
async function removeAlone(tx: Tx, locked: readonly number[], isFree: Fragment): Promise<number[]> {
  if (locked.length === 0) return [];
  const rows = await tx.all(
    idRow,
    sql`select d.id from job d where d.id ${anyOf(locked)} and ${standsAlone('d.id')} and ${isFree} order by d.id`,
  );
  const ids = rows.map(({ id }) => id);
  if (ids.length === 0) return [];
  await tx.run(sql`update tick set outcome = r.status from run r
    where tick.job_id ${anyOf(ids)} and r.job_id = tick.job_id and ${isFinal('r')}`);
  await removeJobs(tx, ids);
  return ids;
}

async function deleteWorkflow(tx: Tx, id: number): Promise<boolean> {
  const isEnded = sql`w.ended_at is not null and not ${hasNotice('workflow_id', 'w.id')}`;
  const isKept = sql`${hasNotice('job_id', 'j.id')} or exists (select 1 from place p where p.job_id = j.id)`;
  return (await removeWorkflow(tx, id, { isEnded, isKept })) !== undefined;
}

/** Deletes a workflow that `isEnded`, unless one of its jobs `isKept`. Returns the number of its jobs if it was deleted. */
async function removeWorkflow(
  tx: Tx,
  id: number,
  { isEnded, isKept = sql`false` }: { isEnded: Fragment; isKept?: Fragment },
): Promise<number | undefined> {
  const jobs = await tx.all(idRow, sql`select id from job where workflow_id = ${id} order by id`);
  const ids = jobs.map((job) => job.id);
  const ended = await lockEnded(tx, ids);
  // After its jobs, see 'Lock order' in docs/architecture.md.
  const workflow = await tx.get(
    idRow,
    sql`select w.id from workflow w where w.id = ${id} and ${isEnded} ${locking('for update')}`,
  );
  if (workflow === undefined || ended.length < ids.length) return undefined;
  const kept = await tx.get(
    idRow,
    sql`select j.id from job j where j.workflow_id = ${id} and (${isNeeded('j.id')} or ${isKept}) limit 1`,
  );
  if (kept !== undefined) return undefined;
  for (let start = 0; start < ids.length; start += PIECE) await removeJobs(tx, ids.slice(start, start + PIECE));
  await tx.run(sql`update tick set outcome = w.status from workflow w where tick.workflow_id = ${id} and w.id = ${id}`);
  await tx.run(sql`delete from workflow where id = ${id}`);
  await tx.run(sql`delete from notification where workflow_id = ${id}`);
  return ids.length;
}

/** Deletes ended jobs with all their rows. The caller has locked them. */
async function removeJobs(tx: Tx, ids: readonly number[]): Promise<void> {
  const isOne = anyOf(ids);
  const keys = sql`select key from unique_key where job_id ${isOne} order by key ${locking('collate "C" for update')}`;
  await tx.runTogether([
    sql`delete from job_group where job_id ${isOne}`,
    sql`delete from cascade where job_id ${isOne}`,
    sql`delete from edge where child_id ${isOne}`,
    sql`delete from edge where parent_id ${isOne} and not child_id ${isOne}`,
    sql`delete from run where job_id ${isOne}`,
    sql`delete from result where job_id ${isOne}`,
    sql`delete from progress where job_id ${isOne}`,
    sql`delete from checkpoint where job_id ${isOne}`,
    sql`delete from step where job_id ${isOne}`,
    sql`delete from durable where job_id ${isOne}`,
    sql`delete from log where job_id ${isOne}`,
    sql`delete from notification where delivered_by ${isOne}`,
    sql`delete from notification where job_id ${isOne} and not delivered_by ${isOne}`,
    sql`delete from unique_key where key ${anyFrom(keys)}`,
    sql`delete from job where id ${isOne}`,
  ]);
}

export const pruneMethods = {
  prune: inTurn(many('read', findOld), staged('write', prune)),
  deleteJobs: many('write', deleteJobs),
  deleteWorkflow: many('write', deleteWorkflow),
};

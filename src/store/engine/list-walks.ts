/** The ways through the tables by which lists and counts find jobs. */

import { isTerminal, STATUSES, type Status } from '../../core/job.ts';
import { anyOf, type Dialect, type Fragment, raw, type Spelling, spelled, sql } from '../sql/sql.ts';
import type { Bounded } from './list-bounds.ts';
import { lastRun } from './reads.ts';
import { statusOf } from './standing.ts';

/** A search in one order of ids. */
export interface Walk {
  from: Fragment;
  /** The column that the walk follows. */
  id: Fragment;
  workerId: Fragment;
  /** The conditions that choose the rows of the walk. */
  where: readonly Fragment[];
  /** True if the last run is looked up job by job. */
  seeksRun: boolean;
}

const shownWorker = raw('case when l.job_id is null then r.worker_id else l.worker_id end');

const ALL: Walk = {
  from: sql`from job j left join live l on l.job_id = j.id ${lastRun}`,
  id: raw('j.id'),
  workerId: shownWorker,
  where: [],
  seeksRun: true,
};

/**
 * With a status, the walk follows the index that has only such jobs, so that three failures among millions are found at once;
 * without one it follows the ids.
 */
export function walksOf(filter: Bounded, dialect: Dialect): { walks: readonly Walk[]; union: 'union' | 'union all' } {
  const { statuses, ids, workerId } = filter;
  if (statuses === undefined) {
    const isOfWorker = workerId !== undefined && ids === undefined && !isNarrow(filter);
    return isOfWorker
      ? { walks: [attemptsOf(workerId), runningOf(workerId, dialect)], union: 'union' }
      : { walks: [ALL], union: 'union all' };
  }
  // SQLite searches what is rare by that, whatever its status. PostgreSQL's planner knows better.
  if (ids !== undefined || (dialect === 'sqlite' && isRare(filter))) {
    const hasStatus = sql`coalesce(${statusOf('l')}, r.status) ${anyOf(statuses, 'text')}`;
    return { walks: [{ ...ALL, where: [hasStatus] }], union: 'union all' };
  }
  const walks = STATUSES.filter((status) => statuses.includes(status)).map((status) =>
    isTerminal(status) ? endedWith(status, filter) : unfinishedWith(status),
  );
  return { walks, union: 'union all' };
}

function isRare({ workflowId, groupId, parentId, name, uniqueKey, tags }: Bounded): boolean {
  return [workflowId, groupId, parentId, name, uniqueKey, tags?.[0]].some((wanted) => wanted !== undefined);
}

/** True if an index finds them by more than their id. */
function isNarrow(filter: Bounded): boolean {
  return isRare(filter) || filter.queue !== undefined;
}

/**
 * The job of a row. `cross join` fixes the order on SQLite. On PostgreSQL a merge join with all jobs would read every newer job of
 * another status or worker: `offset 0` forces a lookup per job. Where an index finds few jobs, its planner chooses.
 */
function jobOf(row: string, planned = false): Spelling {
  const forced = sql`cross join lateral (select * from job where id = ${raw(row)}.job_id offset 0) j`;
  return spelled({
    sqlite: raw(`cross join job j on j.id = ${row}.job_id`),
    postgres: planned ? sql`join job j on j.id = ${raw(row)}.job_id` : forced,
  });
}

/**
 * Done jobs are found by the primary key on PostgreSQL, those with a reason by the index run_reason, others by run_not_done. On
 * SQLite `+` keeps the index of the status from being used: jobs with a reason are found by that, and the done jobs of a worker by a
 * walk through all attempts, most of which are done. Statuses are literals: SQLite uses no partial index for a parameter.
 */
function endedWith(status: Status, filter: Bounded): Walk {
  const { reason, workerId } = filter;
  const isWalked = reason !== undefined || (status === 'done' && workerId !== undefined);
  const isKeyed = reason !== undefined || status === 'done';
  const hasStatus = spelled({
    sqlite: raw(`${isWalked ? '+' : ''}r.status = '${status}'`),
    postgres: raw(isKeyed ? `coalesce(r.status, '') = '${status}'` : `r.status = '${status}' and r.status <> 'done'`),
  });
  return {
    from: sql`from run r ${jobOf('r', isNarrow(filter))} left join live l on false`,
    id: raw('r.job_id'),
    workerId: raw('r.worker_id'),
    where: [sql`${hasStatus}`],
    seeksRun: false,
  };
}

/** On PostgreSQL, few of many waiting jobs are running: those are found by the claims. */
function unfinishedWith(status: Status): Walk {
  const isRunning = status === 'running';
  const claimed = sql`l.job_id = any(array(
    select unnest(job_ids) from claim union select job_id from live where listed_as = 'running'))`;
  return {
    from: sql`from live l ${spelled({ sqlite: raw(isRunning ? 'indexed by live_running' : ''), postgres: raw('') })}
      ${jobOf('l', true)} ${lastRun}`,
    id: raw('l.job_id'),
    workerId: raw('l.worker_id'),
    where: [
      sql`${spelled({ sqlite: raw('true'), postgres: isRunning ? claimed : raw(`l.listed_as = '${status}'`) })}`,
      sql`${statusOf('l')} = ${raw(`'${status}'`)}`,
    ],
    seeksRun: true,
  };
}

/** Every job of a worker has an ended attempt by it, or is running. Attempts of others are passed without a look at their jobs. */
function attemptsOf(workerId: number): Walk {
  return {
    from: sql`from run a ${jobOf('a')} left join live l on l.job_id = j.id ${lastRun}`,
    id: raw('a.job_id'),
    workerId: shownWorker,
    where: [sql`a.worker_id = ${workerId}`],
    seeksRun: true,
  };
}

function runningOf(workerId: number, dialect: Dialect): Walk {
  if (dialect === 'sqlite') return unfinishedWith('running');
  const claimed = sql`(select unnest(job_ids) as job_id from claim where worker_id = ${workerId}) a`;
  const from = sql`from ${claimed} ${jobOf('a')} left join live l on l.job_id = j.id ${lastRun}`;
  return { ...attemptsOf(workerId), from, where: [] };
}

/** Lists and counts by any filter. Each status is looked for where its jobs are, and the findings are merged. */

import { isTerminal, type Status } from '../../../core/job.ts';
import type { JobFilter } from '../../../core/job-filter.ts';
import { CREATION_SLACK_MS, endWith } from '../../list-bounds.ts';
import type { Context } from '../base/context.ts';
import type { Database, Param } from '../base/database.ts';
import { sql } from '../base/sql.ts';
import { jobColumns, jobsFrom } from '../sql/read.ts';
import { idOf, type JobRow } from './job-row.ts';
import { lastJobBefore } from './last-job-before.ts';
import { textSearch, windowStart } from './text-search.ts';

export function list(
  { database }: Context,
  filter: JobFilter,
  { before, limit }: { before: number | null; limit: number },
): JobRow[] {
  const found = searches(bounded(database, { ...filter, before })).flatMap(({ from, where, params, id }) =>
    database.tuples<JobRow>(
      `select ${jobColumns} from ${from} where ${where} order by ${id} desc limit ?`,
      ...params,
      limit,
    ),
  );
  return found.sort((a, b) => idOf(b) - idOf(a)).slice(0, limit);
}

export function count({ database }: Context, filter: JobFilter, atMost: number): number {
  let found = 0;
  for (const { from, where, params } of searches(bounded(database, { ...filter, before: null }))) {
    const statement = `select count(*) as count from (select 1 from ${from} where ${where} limit ?)`;
    found += database.get<{ count: number }>(statement, ...params, atMost - found)?.count ?? 0;
  }
  return found;
}

interface Search {
  from: string;
  where: string;
  params: Param[];
  /** The column that is in order where the search begins. */
  id: string;
}

/** Only jobs with ids `before` one, `above` another, and `upTo` a third. */
type Bounded = JobFilter & { before: number | null; above?: number; upTo?: number };

/**
 * Where ids alone tell that a job is not meant, none beyond is looked at: what a worker ran that is gone is no younger than
 * its last lease. A reason tells how the job ended.
 */
function bounded(database: Database, filter: Bounded): Bounded {
  const { createdFrom, workerId, reason } = filter;
  const gone = workerId === undefined ? undefined : database.get<{ at: number }>(sql.workerGone, workerId);
  const createdTo = Math.min(filter.createdTo ?? Infinity, gone?.at ?? Infinity);
  return {
    ...filter,
    ...(reason !== undefined && filter.statuses === undefined ? { statuses: [endWith(reason)] } : {}),
    ...(createdFrom === undefined ? {} : { above: lastJobBefore(database, createdFrom - CREATION_SLACK_MS) }),
    ...(createdTo === Infinity ? {} : { upTo: lastJobBefore(database, createdTo + CREATION_SLACK_MS) }),
  };
}

function searches(filter: Bounded): Search[] {
  const few = [filter.workflowId, filter.groupId, filter.parentId, filter.name, filter.tags?.[0]];
  if (few.some((wanted) => wanted !== undefined)) return [searchPart(filter)];
  if (filter.statuses === undefined) return [search(filter, { from: jobsFrom.all, id: 'j.id', status: null })];
  return [...new Set(filter.statuses)].map((status) =>
    isTerminal(status)
      ? search(filter, { from: jobsFrom.ended, id: 'r.job_id', status: ['r.status', status] })
      : search(filter, {
          from: status === 'running' ? jobsFrom.running : jobsFrom.waiting,
          id: 'l.job_id',
          status: ['l.status', status],
        }),
  );
}

/** The jobs of a workflow, group or parent, of a name or tag, are few: they are looked for by that, whatever their status. */
function searchPart(filter: Bounded): Search {
  const found = search(filter, { from: jobsFrom.all, id: 'j.id', status: null });
  if (filter.statuses === undefined) return found;
  return {
    ...found,
    where: `${found.where} and coalesce(l.status, r.status) in (select value from json_each(?))`,
    params: [...found.params, JSON.stringify(filter.statuses)],
  };
}

interface Start {
  from: string;
  id: string;
  status: [column: string, value: Status] | null;
}

function search(filter: Bounded, { from, id, status }: Start): Search {
  const conditions: string[] = ['true'];
  const params: Param[] = [];
  const must = (condition: string, ...values: Param[]) => {
    conditions.push(condition);
    params.push(...values);
  };
  // Statuses are written out: a partial index is not used for a parameter.
  if (status !== null) must(`${status[0]} = '${status[1]}'`);
  if (filter.before !== null) must(`${id} < ?`, filter.before);
  if (filter.above !== undefined) must(`${id} > ?`, filter.above);
  if (filter.upTo !== undefined) must(`${id} <= ?`, filter.upTo);
  if (filter.ids !== undefined) must(`${id} in (select value from json_each(?))`, JSON.stringify(filter.ids));
  if (filter.workflowId !== undefined) must('j.workflow_id = ?', filter.workflowId);
  if (filter.groupId !== undefined) must('j.group_id = ?', filter.groupId);
  if (filter.parentId !== undefined) {
    must(`${id} in (select child_id from edge where parent_id = ?)`, filter.parentId);
  }
  if (filter.newest !== undefined) must(`${id} > ${windowStart}`, filter.newest);
  if (filter.queue !== undefined) must('j.queue = ?', filter.queue);
  if (filter.name !== undefined) must('j.name = ?', filter.name);
  // The index of tagged jobs, and a look for the text before the list is taken apart.
  if (filter.tags !== undefined && filter.tags.length > 0) must(`j.tags <> '[]'`);
  for (const tag of filter.tags ?? []) must('instr(j.tags, ?) > 0', JSON.stringify(tag));
  for (const tag of filter.tags ?? []) must('exists (select 1 from json_each(j.tags) t where t.value = ?)', tag);
  if (filter.workerId !== undefined) must('iif(l.job_id is null, r.worker_id, l.worker_id) = ?', filter.workerId);
  if (filter.reason !== undefined) must('r.reason = ?', filter.reason);
  if (filter.createdFrom !== undefined) must('j.created_at >= ?', filter.createdFrom);
  if (filter.createdTo !== undefined) must('j.created_at < ?', filter.createdTo);
  if (filter.text !== undefined) {
    const found = textSearch({ text: filter.text, newest: filter.newest, seeksRun: from !== jobsFrom.ended });
    must(found.condition, ...found.params);
  }
  return { from, where: conditions.join(' and '), params, id };
}

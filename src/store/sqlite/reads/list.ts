/** Lists and counts by any filter. Each status is searched in the table that has its jobs; the results are merged. */

import { isTerminal, type Status } from '../../../core/job.ts';
import type { JobFilter } from '../../../core/job-filter.ts';
import { WEBHOOK_HANDLER } from '../../../core/notify.ts';
import { CREATION_SLACK_MS, statusesOf } from '../../list-bounds.ts';
import type { Context } from '../base/context.ts';
import type { Database, Param } from '../base/database.ts';
import { sql } from '../base/sql.ts';
import { jobsFrom, listedColumns } from '../sql/read.ts';
import { idOf, type JobRow } from './job-row.ts';

export function list(
  { database }: Context,
  filter: JobFilter,
  { before, limit }: { before: number | null; limit: number },
): JobRow[] {
  const found = searches(bounded(database, { ...filter, before })).flatMap(({ from, where, params, id }) =>
    database.tuples<JobRow>(
      `select ${listedColumns} from ${from} where ${where} order by ${id} desc limit ?`,
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

/** The ids above this are the newest `?`. */
const windowStart = '(select coalesce(max(id), 0) from job) - ?';

interface Search {
  from: string;
  where: string;
  params: Param[];
  /** The id column of the table that the search walks. */
  id: string;
}

/** A filter with bounds of the ids: `before` and `above` are exclusive, `upTo` is inclusive. */
type Bounded = JobFilter & { before: number | null; above?: number; upTo?: number };

/**
 * Adds what follows from the filter: creation times bound the ids, a job of a worker that is offline was created before its
 * last lease ended, and a reason implies a status.
 */
function bounded(database: Database, filter: Bounded): Bounded {
  const { createdFrom, workerId } = filter;
  const statuses = statusesOf(filter);
  const gone = workerId === undefined ? undefined : database.get<{ at: number }>(sql.workerGone, workerId);
  const createdTo = Math.min(filter.createdTo ?? Infinity, gone?.at ?? Infinity);
  return {
    ...filter,
    ...(statuses === undefined ? {} : { statuses }),
    ...(createdFrom === undefined ? {} : { above: lastJobBefore(database, createdFrom - CREATION_SLACK_MS) }),
    ...(createdTo === Infinity ? {} : { upTo: lastJobBefore(database, createdTo + CREATION_SLACK_MS) }),
  };
}

function searches(filter: Bounded): Search[] {
  const few = [filter.workflowId, filter.groupId, filter.parentId, filter.name, filter.uniqueKey, filter.tags?.[0]];
  if (few.some((wanted) => wanted !== undefined)) return [searchPart(filter)];
  const { statuses, workerId, ids, queue } = filter;
  if (statuses !== undefined) return [...new Set(statuses)].map((status) => search(filter, startOf(status, filter)));
  if (workerId === undefined || ids !== undefined || queue !== undefined) return [search(filter, ALL)];
  return [search(filter, startOf('running', filter)), searchAttempts(filter)];
}

const ALL: SearchStart = {
  from: jobsFrom.all,
  id: 'j.id',
  status: null,
  workerId: 'iif(l.job_id is null, r.worker_id, l.worker_id)',
};

function startOf(status: Status, { reason, workerId }: Bounded): SearchStart {
  if (isTerminal(status)) {
    // `+` keeps SQLite from using the index of the status: jobs with a reason are found by that, and the done jobs of a worker
    // by a walk through all attempts, most of which are done.
    const isFoundOtherwise = reason !== undefined || (status === 'done' && workerId !== undefined);
    const column = isFoundOtherwise ? '+r.status' : 'r.status';
    return { from: jobsFrom.ended, id: 'r.job_id', status: [column, status], workerId: 'r.worker_id' };
  }
  const from = status === 'running' ? jobsFrom.running : jobsFrom.waiting;
  return { from, id: 'l.job_id', status: ['l.status', status], workerId: 'l.worker_id' };
}

/**
 * Jobs of a worker that are not running: each has an ended attempt by it. Attempts of other workers are passed without a look at
 * their jobs.
 */
function searchAttempts(filter: Bounded): Search {
  const found = search(filter, { ...ALL, from: jobsFrom.attempted, id: 'a.job_id' });
  const isLast = `a.worker_id = ? and coalesce(l.status, '') <> 'running'
    and not exists (select 1 from run b where b.job_id = a.job_id and b.attempt > a.attempt and b.worker_id = a.worker_id)`;
  return { ...found, where: `${found.where} and ${isLast}`, params: [...found.params, filter.workerId as number] };
}

/** The jobs of a workflow, group, parent, name, unique key or tag are few: they are searched by that, whatever their status. */
function searchPart(filter: Bounded): Search {
  const found = search(filter, ALL);
  if (filter.statuses === undefined) return found;
  return {
    ...found,
    where: `${found.where} and coalesce(l.status, r.status) in (select value from json_each(?))`,
    params: [...found.params, JSON.stringify(filter.statuses)],
  };
}

interface SearchStart {
  from: string;
  id: string;
  status: [column: string, value: Status] | null;
  /** The column of the worker. */
  workerId: string;
}

function search(filter: Bounded, { from, id, status, workerId }: SearchStart): Search {
  const conditions: string[] = ['true'];
  const params: Param[] = [];
  const must = (condition: string, ...values: Param[]) => {
    conditions.push(condition);
    params.push(...values);
  };
  // Statuses are literals: SQLite does not use a partial index for a parameter.
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
  // The first condition is that of the index.
  if (filter.uniqueKey !== undefined) {
    must(`instr(j.spec, '"unique_key"') > 0 and json_extract(j.spec, '$.unique_key') = ?`, filter.uniqueKey);
  }
  // Looks for the text before it parses the spec.
  if (filter.submittedBy !== undefined) {
    const quoted = JSON.stringify(filter.submittedBy);
    must(`instr(j.spec, ?) > 0 and json_extract(j.spec, '$.submitted_by') = ?`, quoted, filter.submittedBy);
  }
  // Uses the index of tagged jobs, and looks for the text before it parses the list.
  if (filter.tags !== undefined && filter.tags.length > 0) must(`j.tags <> '[]'`);
  for (const tag of filter.tags ?? []) must('instr(j.tags, ?) > 0', JSON.stringify(tag));
  for (const tag of filter.tags ?? []) must('exists (select 1 from json_each(j.tags) t where t.value = ?)', tag);
  if (filter.workerId !== undefined) must(`${workerId} = ?`, filter.workerId);
  if (filter.reason !== undefined) must('r.reason = ?', filter.reason);
  if (filter.createdFrom !== undefined) must('j.created_at >= ?', filter.createdFrom);
  if (filter.createdTo !== undefined) must('j.created_at < ?', filter.createdTo);
  if (filter.text !== undefined) {
    const found = textSearch({ text: filter.text, newest: filter.newest, seeksRun: from !== jobsFrom.ended });
    must(found.condition, ...found.params);
  }
  if (filter.error !== undefined) {
    const found = errorSearch({ text: filter.error, newest: filter.newest, seeksRun: from !== jobsFrom.ended });
    must(found.condition, ...found.params);
  }
  return { from, where: conditions.join(' and '), params, id };
}

/** The id of the last job that was created before an instant, found by bisection; 0 if there is none. */
export function lastJobBefore(database: Database, instant: number): number {
  let low = 0;
  let high = (database.get<{ id: number }>(sql.newestJobId)?.id ?? 0) + 1;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    const job = database.get<{ id: number; created_at: number }>(sql.jobUpTo, low, middle);
    if (job !== undefined && job.created_at >= instant) high = job.id;
    else low = middle;
  }
  return low;
}

/** A cheap condition that may let too much through, then an exact one. */
interface TextSearch {
  /** From the aliases j (job) and r (its last run). */
  condition: string;
  params: Param[];
}

interface TextSearchInput {
  text: string;
  /** Restricts the search to this number of newest ids. */
  newest: number | undefined;
  /** True if r must be looked up job by job. */
  seeksRun: boolean;
}

/** Finds the text in name, command or error, and without spaces in the input, whatever the case. */
function textSearch({ text, newest, seeksRun }: TextSearchInput): TextSearch {
  const wanted = text.toLowerCase();
  const places = ['j.name', `j.spec ->> 'command'`, 'r.error', READABLE_INPUT];
  const texts = [wanted, wanted, wanted, wanted.replaceAll(' ', '')];
  const pattern = roughPattern(wanted);
  const error = mayHaveError({ pattern, newest, seeksRun });
  return {
    condition: `(${mayHold('j.name')} or ${mayHold('j.spec')} or ${error.condition})
      and (${places.map(holds).join(' or ')})`,
    params: [pattern, pattern, ...error.params, ...texts.flatMap((part) => [part, part])],
  };
}

/** Finds the text in the error, whatever the case. */
function errorSearch({ text, newest, seeksRun }: TextSearchInput): TextSearch {
  const wanted = text.toLowerCase();
  const error = mayHaveError({ pattern: roughPattern(wanted), newest, seeksRun });
  return { condition: `(${error.condition}) and (${holds('r.error')})`, params: [...error.params, wanted, wanted] };
}

/** Errors are few: where each would be looked up, those that may contain the text are collected once. */
function mayHaveError({ pattern, newest, seeksRun }: Omit<TextSearchInput, 'text'> & { pattern: string }): TextSearch {
  if (!seeksRun) return { condition: mayHold('r.error'), params: [pattern] };
  const within = newest === undefined ? 'true' : `e.job_id > ${windowStart}`;
  return {
    condition: `j.id in (select e.job_id from run e where ${within} and e.error is not null and (${mayHold('e.error')}))`,
    params: [...(newest === undefined ? [] : [newest]), pattern],
  };
}

/** Without spaces. The input of a webhook is not for readers. */
const READABLE_INPUT = `replace(iif(j.kind = '${WEBHOOK_HANDLER}', null, j.spec ->> 'input'), ' ', '')`;

/** SQLite compares ASCII quickly; only other text is passed to our function. */
function holds(place: string): string {
  return `instr(lower(${place}), ?) > 0 or (${isForeign(place)} and contains(${place}, ?))`;
}

function mayHold(place: string): string {
  return `${place} like ? escape '!' or ${isForeign(place)}`;
}

function isForeign(place: string): string {
  return `length(${place}) <> octet_length(${place})`;
}

/** Characters that JSON may escape match anything, and so do spaces, which are ignored in the input. */
function roughPattern(text: string): string {
  const plain = text.split(/[^!#-[\]-~]+/);
  return `%${plain.map((part) => part.replaceAll(/[!%_]/g, '!$&')).join('%')}%`;
}

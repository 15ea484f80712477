/** Lists and counts by any filter. */

import { isTerminal, STATUSES, type Status } from '../../../core/job.ts';
import type { JobFilter, ListedJob } from '../../../core/job-filter.ts';
import { CREATION_SLACK_MS, statusesOf } from '../../list-bounds.ts';
import type { Context } from '../base/context.ts';
import type { Statement } from '../base/database.ts';
import { numbers } from '../base/values.ts';
import { lastRun, listedJobsFrom } from '../sql/read.ts';
import { statusOf } from '../sql/standing.ts';
import { decodeListedJob, type JobRow } from './job-row.ts';
import { textSearch } from './text-search.ts';

interface Built {
  text: string;
  values: unknown[];
}

type Dialect = Pick<Context, 'schema' | 'folds'>;

/** A filter with bounds of the ids. Numbers, not subqueries, so that the planner knows how few jobs they leave. */
type Bounded = Omit<JobFilter, 'newest'> & { above?: number; upTo?: number };

export async function list(
  context: Context,
  filter: JobFilter,
  page: { before: number | null; limit: number },
  signal: AbortSignal,
): Promise<ListedJob[]> {
  const { text, values } = listQuery(context, await bounded(context, filter, signal), page);
  const rows = await context.database.query<JobRow>({ text }, values, signal);
  return rows.map(decodeListedJob);
}

export async function count(context: Context, filter: JobFilter, atMost: number, signal: AbortSignal): Promise<number> {
  const { text, values } = countQuery(context, await bounded(context, filter, signal), atMost);
  const [row] = await context.database.query<{ count: number }>({ text }, values, signal);
  return row?.count ?? 0;
}

/**
 * Adds what follows from the filter: creation times bound the ids, a job of a worker that is offline was created before its
 * last lease ended, and a reason implies a status.
 */
async function bounded(
  { database, sql }: Context,
  { newest, ...filter }: JobFilter,
  signal: AbortSignal,
): Promise<Bounded> {
  const idFrom = async (statement: Statement, ...values: unknown[]) =>
    (await database.query<{ id: number | null }>(statement, values, signal))[0]?.id ?? 0;
  const { createdFrom, workerId } = filter;
  const statuses = statusesOf(filter);
  const gone = workerId === undefined ? [] : await database.query<{ at: number }>(sql.workerGone, [workerId], signal);
  const createdTo = Math.min(filter.createdTo ?? Infinity, gone[0]?.at ?? Infinity);
  const [newestId, lastBefore, lastWithin] = await Promise.all([
    newest === undefined ? undefined : idFrom(sql.newestJobId),
    createdFrom === undefined ? undefined : idFrom(sql.lastJobBefore, createdFrom - CREATION_SLACK_MS),
    createdTo === Infinity ? undefined : idFrom(sql.lastJobBefore, createdTo + CREATION_SLACK_MS),
  ]);
  const above = Math.max((newestId ?? 0) - (newest ?? 0), lastBefore ?? 0);
  return {
    ...filter,
    ...(statuses === undefined ? {} : { statuses }),
    ...(above > 0 ? { above } : {}),
    ...(lastWithin === undefined ? {} : { upTo: lastWithin }),
  };
}

/** Matching jobs, newest first, below `before` if given. */
function listQuery(dialect: Dialect, filter: Bounded, page: { before: number | null; limit: number }): Built {
  const { text, values } = idsQuery(dialect, filter, page);
  return {
    text: `with page as materialized (${text}) select ${listedJobsFrom(dialect.schema)} where j.id = any(array(select id from page)) order by j.id desc`,
    values,
  };
}

/** The number of matching jobs, counted up to `atMost`. */
function countQuery(dialect: Dialect, filter: Bounded, atMost: number): Built {
  const { text, values } = idsQuery(dialect, filter, { before: null, limit: atMost });
  return { text: `select count(*) as count from (${text}) found`, values };
}

/**
 * With a status, the walk follows the index that has only such jobs, so that three failures among millions are found
 * at once; without one it follows the ids.
 */
function idsQuery(
  dialect: Dialect,
  filter: Bounded,
  { before, limit }: { before: number | null; limit: number },
): Built {
  const { schema: s } = dialect;
  const values: unknown[] = [];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const conditions = conditionsOf(dialect, filter, bind);
  const bounds = boundsOf({ ...filter, before }, bind);
  const { text, error, above } = filter;
  const searches = [
    ...(text === undefined ? [] : [textSearch(dialect, { text, above }, bind)]),
    ...(error === undefined ? [] : [textSearch(dialect, { text: error, above, errorOnly: true }, bind)]),
  ];
  conditions.push(...searches.map(({ exact }) => exact));
  const rough = (): string[] => searches.map((search) => search.rough());
  const most = `${bind(limit)}::bigint`;

  const { statuses, ids, workerId } = filter;
  if (workerId !== undefined && statuses === undefined && ids === undefined && !isNarrow(filter)) {
    const shared = rough();
    const parts = workerPartsOf(s, bind(workerId)).map(({ from, id }) => {
      const all = [...bounds(id), ...conditions, ...shared];
      return `(select distinct ${id} as id from ${from} ${whereAll(all)} order by ${id} desc limit ${most})`;
    });
    return { text: `select id from (${parts.join(' union ')}) part order by id desc limit ${most}`, values };
  }
  if (statuses === undefined || ids !== undefined) {
    const status = statuses === undefined ? '' : `coalesce(${statusOf('l')}, r.status) = any(${bind(statuses)})`;
    const all = [...bounds('j.id'), ...conditions, ...rough(), ...(status === '' ? [] : [status])];
    const listed = `select j.id from ${s}.job j left join ${s}.live l on l.job_id = j.id ${lastRun(s)}
      ${whereAll(all)} order by j.id desc limit ${most}`;
    return { text: listed, values };
  }
  let shared: string[] | undefined;
  const parts = partsOf(s, filter, bind).map(({ from, id, seeksRun }) => {
    if (seeksRun) shared ??= rough();
    const all = [...bounds(id), ...conditions, ...(seeksRun ? (shared ?? []) : [])];
    return `(select j.id from ${from} ${whereAll(all)} order by ${id} desc limit ${most})`;
  });
  if (parts.length === 0) return { text: 'select null::bigint as id where false', values: [] };
  return { text: `select id from (${parts.join(' union all ')}) part order by id desc limit ${most}`, values };
}

function whereAll(conditions: readonly string[]): string {
  return conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`;
}

/** Bounds of the column that the walk follows: the planner does not derive them from those of `j.id`. */
function boundsOf(
  { above, upTo, before }: Pick<Bounded, 'above' | 'upTo'> & { before: number | null },
  bind: (value: unknown) => string,
): (id: string) => string[] {
  const ends: string[] = [];
  if (above !== undefined) ends.push(`> ${bind(above)}::bigint`);
  if (upTo !== undefined) ends.push(`<= ${bind(upTo)}::bigint`);
  if (before !== null) ends.push(`< ${bind(before)}::bigint`);
  return (id) => ends.map((end) => `${id} ${end}`);
}

interface Part {
  from: string;
  id: string;
  /** True if the last run is looked up job by job. */
  seeksRun: boolean;
}

/** True if an index finds them by more than their id. */
function isNarrow({ workflowId, groupId, parentId, queue, name, uniqueKey, tags }: Bounded): boolean {
  return [workflowId, groupId, parentId, queue, name, uniqueKey, tags?.[0]].some((wanted) => wanted !== undefined);
}

function partsOf(s: string, filter: Bounded, bind: (value: unknown) => string): Part[] {
  const wanted = STATUSES.filter((status) => filter.statuses?.includes(status));
  const live = wanted.filter((status) => !isTerminal(status));
  const job = isNarrow(filter) ? `join ${s}.job j on j.id = r.job_id` : jobOf(s, 'r');
  const parts = wanted.filter(isTerminal).map((status) => ({
    from: `(select * from ${s}.run ${whereAll(endConditionsOf(status, filter, bind))}) r ${job} left join ${s}.live l on false`,
    id: 'r.job_id',
    seeksRun: false,
  }));
  if (live.length === 0) return parts;
  // Of many waiting jobs few are running: those are found by the claims.
  const running = `job_id = any(array(
      select unnest(job_ids) from ${s}.claim union select job_id from ${s}.live where listed_as = 'running'))`;
  return [
    ...parts,
    ...live.map((status) => ({
      from: `(select * from ${s}.live where ${status === 'running' ? running : `listed_as = '${status}'`}
          and ${statusOf('live')} = '${status}') l
        join ${s}.job j on j.id = l.job_id ${lastRun(s)}`,
      id: 'l.job_id',
      seeksRun: true,
    })),
  ];
}

/**
 * Every job of a worker has an ended attempt by it, or is in one of its claims. Attempts of other workers are passed without a
 * look at their jobs.
 */
function workerPartsOf(s: string, workerId: string): Omit<Part, 'seeksRun'>[] {
  const ofWorker = [
    `select job_id from ${s}.run where worker_id = ${workerId}::integer`,
    `select unnest(job_ids) as job_id from ${s}.claim where worker_id = ${workerId}::integer`,
  ];
  return ofWorker.map((ids) => ({
    from: `(${ids}) a ${jobOf(s, 'a')} left join ${s}.live l on l.job_id = j.id ${lastRun(s)}`,
    id: 'a.job_id',
  }));
}

/** A merge join with all jobs would read every newer job of another status or worker. `offset 0` forces a lookup per job. */
function jobOf(s: string, row: string): string {
  return `cross join lateral (select * from ${s}.job where id = ${row}.job_id offset 0) j`;
}

/**
 * Conditions of the row that ended a job. Those of worker and reason are also in `conditionsOf`; here they spare a look at the
 * job. Done jobs are found by the primary key, those with a reason by the index run_reason, others by run_not_done.
 */
function endConditionsOf(
  status: Status,
  { workerId, reason }: Bounded,
  bind: (value: unknown) => string,
): readonly string[] {
  return [
    status === 'done' || reason !== undefined
      ? `coalesce(status, '') = '${status}'`
      : `status = '${status}' and status <> 'done'`,
    ...(workerId === undefined ? [] : [`worker_id = ${bind(workerId)}::integer`]),
    ...(reason === undefined ? [] : [`reason = ${bind(reason)}`]),
  ];
}

function conditionsOf({ schema: s }: Dialect, filter: Bounded, bind: (value: unknown) => string): string[] {
  const conditions: string[] = [];
  const { ids, workflowId, groupId, parentId, queue, name, tags, workerId, reason, createdFrom, createdTo } = filter;
  const instant = (ms: number) => `to_timestamp(${bind(ms)}::float8 / 1000.0)`;
  if (ids !== undefined) conditions.push(`j.id = any(${bind(numbers(ids))}::bigint[])`);
  if (workflowId !== undefined) conditions.push(`j.workflow_id = ${bind(workflowId)}::bigint`);
  if (groupId !== undefined) conditions.push(`j.group_id = ${bind(groupId)}::bigint`);
  if (parentId !== undefined) {
    conditions.push(`j.id = any(array(select child_id from ${s}.edge where parent_id = ${bind(parentId)}::bigint))`);
  }
  if (queue !== undefined) conditions.push(`j.queue = ${bind(queue)}`);
  if (name !== undefined) conditions.push(`j.name = ${bind(name)}`);
  // The first condition is that of the index.
  if (filter.uniqueKey !== undefined) {
    conditions.push(`j.spec ? 'unique_key' and j.spec ->> 'unique_key' = ${bind(filter.uniqueKey)}`);
  }
  if (filter.submittedBy !== undefined) {
    conditions.push(`j.spec ->> 'submitted_by' = ${bind(filter.submittedBy)}`);
  }
  // `<> '{}'` is redundant, but makes the index of tagged jobs usable.
  if (tags !== undefined && tags.length > 0) conditions.push(`j.tags <> '{}' and j.tags @> ${bind(tags)}::text[]`);
  if (workerId !== undefined) {
    conditions.push(`case when l.job_id is null then r.worker_id else l.worker_id end = ${bind(workerId)}::integer`);
  }
  if (reason !== undefined) conditions.push(`r.reason = ${bind(reason)}`);
  if (createdFrom !== undefined) conditions.push(`j.created_at >= ${instant(createdFrom)}`);
  if (createdTo !== undefined) conditions.push(`j.created_at < ${instant(createdTo)}`);
  return conditions;
}

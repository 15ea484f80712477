/** Lists and counts by any filter. */

import type { JobFilter, ListedJob } from '../../core/job-filter.ts';
import { columns } from '../sql/columns.ts';
import { allOf, anyFrom, anyOf, at, type Dialect, type Fragment, join, raw, type Spelling, sql } from '../sql/sql.ts';
import { many, type Tx } from '../sql/tx.ts';
import { type Bounded, bounded } from './list-bounds.ts';
import { walksOf } from './list-walks.ts';
import { jobRow, listedJobFrom, listedJobs } from './reads.ts';
import { textConditions } from './text-search.ts';

const counted = columns<{ count: number }>({ count: 'bigint' });

async function list(
  tx: Tx,
  filter: JobFilter,
  { before, limit }: { before: number | null; limit: number },
): Promise<ListedJob[]> {
  const wanted = await bounded(tx, { ...filter, before });
  if (wanted.statuses?.length === 0) return [];
  const page = sql`${idsOf(wanted, limit)} order by id desc limit ${limit}`;
  const rows = await tx.all(
    jobRow,
    sql`with page as materialized (${page})
      select ${listedJobs} where j.id ${anyFrom(sql`select id from page`)} order by j.id desc`,
  );
  return rows.map(listedJobFrom);
}

async function count(tx: Tx, filter: JobFilter, atMost: number): Promise<number> {
  const wanted = await bounded(tx, { ...filter, before: null });
  if (wanted.statuses?.length === 0) return 0;
  const all = sql`select count(*) as count from (${idsOf(wanted, atMost)} limit ${atMost}) counted`;
  return (await tx.get(counted, all))?.count ?? 0;
}

/** Selects the ids of matching jobs, the newest `limit` of each walk. */
function idsOf(filter: Bounded, limit: number): Spelling {
  return (dialect) => {
    const { walks, union } = walksOf(filter, dialect);
    const parts = walks.map(({ from, id, workerId, where, seeksRun }) => {
      const all = allOf([
        ...where,
        ...boundsOf(filter, id),
        ...conditionsOf(filter, dialect),
        given(filter.workerId, (wanted) => sql`${workerId} = ${wanted}`),
        ...textsOf(filter, dialect, seeksRun),
      ]);
      const chosen = union === 'union' ? raw('distinct ') : raw('');
      return sql`select id from (select ${chosen}${id} as id ${from} where ${all} order by ${id} desc limit ${limit}) walk`;
    });
    return join(parts, ` ${union} `);
  };
}

/** Bounds of the column that the walk follows: PostgreSQL's planner does not derive them from those of `j.id`. */
function boundsOf({ before, above, upTo }: Bounded, id: Fragment): (Fragment | undefined)[] {
  return [
    before === null ? undefined : sql`${id} < ${before}`,
    above > 0 ? sql`${id} > ${above}` : undefined,
    upTo < Infinity ? sql`${id} <= ${upTo}` : undefined,
  ];
}

function conditionsOf(filter: Bounded, dialect: Dialect): (Fragment | undefined)[] {
  const stored = dialect === 'postgres' ? inPostgres : inSqlite;
  return [
    given(filter.ids, (ids) => sql`j.id ${anyOf(ids)}`),
    given(filter.workflowId, (id) => sql`j.workflow_id = ${id}`),
    given(filter.groupId, (id) => sql`j.group_id = ${id}`),
    given(filter.parentId, (id) => sql`j.id ${anyFrom(sql`select child_id from edge where parent_id = ${id}`)}`),
    given(filter.queue, (queue) => sql`j.queue = ${queue}`),
    given(filter.name, (name) => sql`j.name = ${name}`),
    given(filter.uniqueKey, stored.hasUniqueKey),
    given(filter.submittedBy, stored.isSubmittedBy),
    given(filter.tags, (tags) => (tags.length === 0 ? undefined : stored.hasTags(tags))),
    given(filter.reason, (reason) => sql`r.reason = ${reason}`),
    given(filter.createdFrom, (instant) => sql`j.created_at >= ${at(instant)}`),
    given(filter.createdTo, (instant) => sql`j.created_at < ${at(instant)}`),
  ];
}

function given<T, C>(wanted: T | undefined, condition: (wanted: T) => C): C | undefined {
  return wanted === undefined ? undefined : condition(wanted);
}

/** Conditions of what the databases store differently. The first part of each is that of an index, or cheaper than the second. */
const inPostgres = {
  hasUniqueKey: (key: string) => sql`j.spec ? 'unique_key' and j.spec ->> 'unique_key' = ${key}`,
  isSubmittedBy: (actor: string) => sql`j.spec ->> 'submitted_by' = ${actor}`,
  hasTags: (tags: readonly string[]) => sql`j.tags <> '{}' and j.tags @> ${tags}::text[]`,
};
const inSqlite = {
  hasUniqueKey: (key: string) =>
    sql`instr(j.spec, '"unique_key"') > 0 and json_extract(j.spec, '$.unique_key') = ${key}`,
  isSubmittedBy: (actor: string) =>
    sql`instr(j.spec, ${JSON.stringify(actor)}) > 0 and json_extract(j.spec, '$.submitted_by') = ${actor}`,
  hasTags: (tags: readonly string[]) =>
    allOf([
      sql`j.tags <> '[]'`,
      ...tags.map((tag) => sql`instr(j.tags, ${JSON.stringify(tag)}) > 0`),
      ...tags.map((tag) => sql`exists (select 1 from json_each(j.tags) t where t.value = ${tag})`),
    ]),
};

function textsOf({ text, error, above, folds }: Bounded, dialect: Dialect, seeksRun: boolean): Fragment[] {
  const search = (wanted: string | undefined, errorOnly: boolean) =>
    wanted === undefined ? [] : textConditions({ text: wanted, errorOnly, above }, { dialect, folds, seeksRun });
  return [...search(text, false), ...search(error, true)];
}

export const listMethods = {
  list: many('read', list),
  count: many('read', count),
};

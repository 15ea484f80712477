/** The work of PostgreSQL in pages and rows, which does not depend on the load of the machine. */

import type pg from 'pg';

export interface Work {
  /** Shared buffers hit or read, per job. */
  claimPages: number;
  settlePages: number;
  /** Pages of all statements together. */
  allPages: number;
  /** Rows read through an index or a scan, and rows written, per job. */
  rows: number;
  /** Microseconds that the server spent on claims and settles, per job. */
  us: number;
}

interface Statement {
  query: string;
  pages: number;
  ms: number;
}

/**
 * The cost of `body` in this schema, which claims and settles `jobs` jobs. It must close its connections, since their
 * counts are reported then.
 */
export async function workOf(
  client: pg.Client,
  { schema, jobs }: { schema: string; jobs: number },
  body: () => Promise<void>,
): Promise<Work> {
  const rowsBefore = await rowsTouched(client, schema);
  await client.query('select pg_stat_statements_reset()');
  await body();
  const { rows } = await client.query<Statement>(
    `select query, (shared_blks_hit + shared_blks_read)::float8 as pages, total_exec_time as ms
    from pg_stat_statements where position($1 in query) > 0`,
    [`"${schema}".`],
  );
  const sum = (which: (query: string) => boolean, of: 'pages' | 'ms') =>
    rows.filter(({ query }) => which(query)).reduce((total, row) => total + row[of], 0) / jobs;
  return {
    claimPages: sum(isClaim, 'pages'),
    settlePages: sum(isSettle, 'pages'),
    allPages: sum(() => true, 'pages'),
    rows: ((await rowsTouched(client, schema)) - rowsBefore) / jobs,
    us: 1_000 * (sum(isClaim, 'ms') + sum(isSettle, 'ms')),
  };
}

const isClaim = (query: string) => /picked as materialized/.test(query);
const isSettle = (query: string) => /gone as \(\s*delete from .*live/s.test(query) && !isClaim(query);

async function rowsTouched(client: pg.Client, schema: string): Promise<number> {
  // The server removes closed connections a moment later.
  const others = `select count(*)::integer as count from pg_stat_activity
    where backend_type = 'client backend' and pid <> pg_backend_pid()`;
  while ((await client.query<{ count: number }>(others)).rows[0]?.count !== 0) await new Promise(setImmediate);
  const { rows } = await client.query<{ count: number }>(
    `select sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) + n_tup_ins + n_tup_upd + n_tup_del)::float8 as count
    from pg_stat_user_tables where schemaname = $1`,
    [schema],
  );
  return rows[0]?.count ?? 0;
}

/** How much work the server does for a claimed and for a settled job: pages touched and rows, whatever the machine is busy with. */

import pg from 'pg';

export interface Work {
  /** Shared buffers hit or read, per job. */
  claimPages: number;
  settlePages: number;
  /** Milliseconds that the server spent, per thousand jobs. */
  claimMs: number;
  settleMs: number;
}

interface Row {
  query: string;
  pages: number;
  ms: number;
}

export async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return client;
}

/** What `body` cost, which claimed and settled so many jobs. */
export async function workOf(client: pg.Client, jobs: number, body: () => Promise<void>): Promise<Work> {
  await client.query('select pg_stat_statements_reset()');
  await body();
  const { rows } = await client.query<Row>(
    `select query, (shared_blks_hit + shared_blks_read)::float8 as pages, total_exec_time as ms from pg_stat_statements`,
  );
  const sum = (isOne: (query: string) => boolean, of: 'pages' | 'ms') =>
    rows.filter(({ query }) => isOne(query)).reduce((total, row) => total + row[of], 0) / jobs;
  const isClaim = (query: string) => /picked as materialized/.test(query);
  const isSettle = (query: string) => /gone as \(\s*delete from .*live/s.test(query) && !isClaim(query);
  return {
    claimPages: sum(isClaim, 'pages'),
    settlePages: sum(isSettle, 'pages'),
    claimMs: 1_000 * sum(isClaim, 'ms'),
    settleMs: 1_000 * sum(isSettle, 'ms'),
  };
}

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { fillPostgres } from '../../../bench/ui/million.ts';
import { forever } from '../../../contract/kit/steps.ts';
import type { JobFilter } from '../../../src/core/job-filter.ts';
import type { Context } from '../../../src/store/postgres/base/context.ts';
import type { Database } from '../../../src/store/postgres/base/database.ts';
import { statements } from '../../../src/store/postgres/base/sql.ts';
import { list } from '../../../src/store/postgres/reads/list.ts';
import { openTestPostgres } from '../../kit/postgres.ts';

const JOBS = 5_000;
/** No job is of this worker. */
const NOBODY = 999;

interface Plan {
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
}

const opened = new AsyncDisposableStack();
/** The pages that a list reads, those of all its statements together. */
let pagesOf: (filter: JobFilter) => Promise<number>;

before(async () => {
  const { url, schema } = opened.use(await openTestPostgres());
  await fillPostgres(url, schema, JOBS);
  const client = new pg.Client({ connectionString: url });
  opened.defer(() => client.end());
  await client.connect();
  // The settings of the store's connections.
  await client.query('set enable_seqscan = off; set enable_bitmapscan = off');
  const sql = statements(schema, { prepared: false });
  pagesOf = async (filter) => {
    let pages = 0;
    const query: Database['query'] = async <Row>({ text }: { text: string }, values: readonly unknown[]) => {
      const explained = `explain (analyze, buffers, format json) ${text}`;
      const { rows } = await client.query<{ 'QUERY PLAN': { Plan: Plan }[] }>(explained, [...values]);
      const plan = rows[0]?.['QUERY PLAN'][0]?.Plan as Plan;
      pages += plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
      return (await client.query(text, [...values])).rows as Row[];
    };
    const context = { database: { query }, sql, schema: `"${schema}"`, folds: false } as unknown as Context;
    await list(context, filter, { before: null, limit: 100 }, forever);
    return pages;
  };
});

after(() => opened.disposeAsync());

/** A list of a hundred jobs looks up five rows of each. */
const MAX_PAGES = 2_500;

test('postgres: a list by worker passes the jobs of other workers without a look at each', async () => {
  for (const filter of [{ workerId: NOBODY }, { workerId: NOBODY, statuses: ['done'] as const }]) {
    const pages = await pagesOf(filter);
    assert.ok(pages < JOBS / 10, `${JSON.stringify(filter)} read ${pages} pages`);
  }
  assert.ok((await pagesOf({ workerId: 3 })) < MAX_PAGES);
});

test('postgres: a list by reason reads the jobs with that reason only', async () => {
  const statuses = ['failed', 'cancelled', 'skipped'] as const;
  for (const filter of [{ reason: 'lost' }, { reason: 'lost', statuses }] as const) {
    const pages = await pagesOf(filter);
    assert.ok(pages < 20, `${JSON.stringify(filter)} read ${pages} pages`);
  }
  assert.ok((await pagesOf({ reason: 'exit', statuses })) < MAX_PAGES);
});

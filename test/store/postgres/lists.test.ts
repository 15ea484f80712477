import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { fillPostgres } from '../../../bench/ui/million.ts';
import type { JobFilter } from '../../../src/core/job-filter.ts';
import { engine } from '../../../src/store/engine/engine.ts';
import { SharedStatements } from '../../../src/store/postgres/base/engine.ts';
import type { Fragment } from '../../../src/store/sql/sql.ts';
import type { Tx } from '../../../src/store/sql/tx.ts';
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
  const shared = new SharedStatements(`"${schema}"`, { prepared: false });
  pagesOf = async (filter) => {
    let pages = 0;
    const query = async (statement: Fragment): Promise<Record<string, unknown>[]> => {
      const [{ text }, values] = shared.rendered(statement);
      const explained = `explain (analyze, buffers, format json) ${text}`;
      const { rows } = await client.query<{ 'QUERY PLAN': { Plan: Plan }[] }>(explained, [...values]);
      const plan = rows[0]?.['QUERY PLAN'][0]?.Plan as Plan;
      pages += plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
      return (await client.query<Record<string, unknown>>(text, [...values])).rows;
    };
    const tx: Pick<Tx, 'all' | 'get' | 'folds'> = {
      all: async (columns, statement) => (await query(statement)).map((row) => columns.fromPostgres(row)),
      get: async (columns, statement) => (await query(statement)).map((row) => columns.fromPostgres(row))[0],
      folds: false,
    };
    await engine.list.run(tx as Tx, filter, { before: null, limit: 100 });
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

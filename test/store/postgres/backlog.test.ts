import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { aJob, anOffer } from '../../../contract/kit/builders.ts';
import { claim, forever, register, submit } from '../../../contract/kit/steps.ts';
import { statements } from '../../../src/store/postgres/base/sql.ts';
import { createTestDatabase, openTestPostgres } from '../../kit/postgres.ts';
import { queriesOf } from '../../kit/store-tour.ts';

interface Plan {
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
}

const KEEP = { doneMs: 3_600_000, otherMs: 3_600_000, statsMs: 3_600_000 };
const WAITING = 10_000;
const RUNNING = 10;
const METERED = 2;
/** Each running job costs a look at an index of three levels and at a page or two of its table; and so do some settings. */
const MAX_PAGES = 5 * (RUNNING + METERED) + 20;
/** It lists running jobs as such: new entries in the indexes. */
const maxPages: Record<string, number> = { tidyClaims: 3 * MAX_PAGES };

/** What PostgreSQL knows of the rows of `claim`: it decides how the jobs of claims are found. */
type Statistics = 'of now' | 'none' | 'of a busy time';

/** The pages that each statement of a round of the duties and of a heartbeat reads. */
async function pagesRead(statistics: Statistics): Promise<Map<string, number>> {
  await using database = await createTestDatabase();
  await using given = await openTestPostgres(database);
  const { store, schema, url } = given;
  const { id } = await register(store, { leaseMs: 3_600_000 });
  for (let left = WAITING + RUNNING; left > 0; left -= 5_000) {
    await submit(
      store,
      Array.from({ length: Math.min(left, 5_000) }, () => aJob({})),
    );
  }
  assert.equal((await claim(store, id, { limit: RUNNING })).length, RUNNING);
  // Of two jobs at each key, one runs and one waits.
  const atKeys = [
    aJob({ queue: 'metered', limits: [{ key: 'a', max: 1 }] }),
    aJob({ queue: 'metered', rates: [{ key: 'a', limit: 1, perMs: 3_600_000, burst: 0 }] }),
  ];
  await submit(store, [...atKeys, ...atKeys]);
  assert.equal((await claim(store, id, { offer: anOffer({ queues: ['metered'] }) })).length, METERED);

  await using stack = new AsyncDisposableStack();
  const client = new pg.Client({ connectionString: url });
  stack.defer(() => client.end());
  await client.connect();
  await client.query(`vacuum analyze "${schema}".live, "${schema}".job`);
  if (statistics === 'of a busy time') {
    await client.query(`insert into "${schema}".claim (worker_id, claimed_at, job_ids)
      select -n, now(), array(select generate_series(1, 1000)) from generate_series(1, 20) n`);
  }
  if (statistics !== 'none') await client.query(`analyze "${schema}".claim`);
  await client.query(`delete from "${schema}".claim where worker_id < 0`);
  // The settings of the store's connections.
  await client.query('set plan_cache_mode = force_generic_plan; set enable_seqscan = off; set enable_bitmapscan = off');
  const sql = statements(schema, { prepared: false });
  const asked = {
    heldBy: [id],
    tidyClaims: [id, 0],
    dropParkings: ['{1,2}'],
    hasHeads: ['{-1,-2}', id],
  } as const;
  const pages = new Map<string, number>();
  const note = async (name: string, statement: string, values: readonly unknown[]) => {
    const text = `explain (analyze, buffers, format json) ${statement}`;
    const { rows } = await client.query<{ 'QUERY PLAN': { Plan: Plan }[] }>(text, [...values]);
    const plan = rows[0]?.['QUERY PLAN'][0]?.Plan as Plan;
    const read = plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
    pages.set(name, Math.max(read, pages.get(name) ?? 0));
  };
  for (const [name, values] of Object.entries(asked)) await note(name, sql[name as keyof typeof asked].text, values);
  await store.setQueue('metered', { rate: { limit: 1_000, perMs: 1_000, burst: 0 } }, forever);
  await submit(store, [aJob({ delayMs: 1 })]);
  // It is closed although nobody holds it.
  await client.query(`delete from "${schema}".metered_start where name = 'limit:a'`);
  const calls = {
    places: () => store.places(forever),
    workers: () => store.workers(forever),
    retireWorkers: () => store.retireWorkers({ forgetAfterMs: 0, silent: [] }, forever),
    promote: () => store.promote(500, forever),
    findExpired: () => store.findExpired(500, forever),
    leases: () => store.leases(forever),
    findLost: () =>
      store.findLost({ limit: 500, silent: [{ workerId: id, jobId: null, heardAt: 1, leaseMs: 1 }] }, forever),
    'starts that are left': () => store.sweep('metered_start', KEEP, 10_000, forever),
    'unused meters': () => store.sweep('meter', KEEP, 10_000, forever),
    healParkings: () => store.healParkings({ after: 0, limit: 1_000 }, forever),
    findSkippable: () => store.findSkippable(500, forever),
    limits: () => store.limits(forever),
    rates: () => store.rates(forever),
    holders: () => store.holders('a', 10, forever),
    deleteQueue: () => store.deleteQueue('default', forever),
  };
  for (const [name, call] of Object.entries(calls)) {
    for (const { text, values } of await queriesOf(call)) {
      if (!/^(begin|commit)$/.test(text)) await note(name, text, values);
    }
  }
  await store.setQueue('default', { maxRunning: 1_000 }, forever);
  const asWaiting = await queriesOf(() => store.outlook(WAITING, forever));
  const counts = asWaiting.filter(({ text }) => text.includes('group by n.queue'));
  assert.equal(counts.length, 1);
  for (const { text, values } of counts) await note('the running jobs of a queue', text, values);
  return pages;
}

for (const statistics of ['of now', 'none', 'of a busy time'] as const) {
  test(`postgres: duties and heartbeats read no more pages while many jobs wait, statistics of claims: ${statistics}`, async () => {
    for (const [name, pages] of await pagesRead(statistics)) {
      assert.ok(pages <= (maxPages[name] ?? MAX_PAGES), `${name} read ${pages} pages with ${WAITING} waiting jobs`);
    }
  });
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { aJob, anOffer } from '../../../contract/kit/builders.ts';
import { claim, forever, ids, register, submit, submitOne } from '../../../contract/kit/steps.ts';
import type { Job, NewJob } from '../../../src/core/job.ts';
import { statements } from '../../../src/store/postgres/base/sql.ts';
import { eventually } from '../../kit/eventually.ts';
import { openTestPostgres, type PostgresTestStore } from '../../kit/postgres.ts';

/** Jobs of the 64th queue and of later ones are in the index across lanes. */
const QUEUES = 150;
/** A look at each of 150 lanes would take 450. */
const MAX_PAGES = 150;
const HANDLER = { command: null, handler: 'noop' };
const OFFER = anOffer({ commands: true, handlers: ['noop'] });

function inQueues(count: number, more: Partial<NewJob> = {}): NewJob[] {
  return Array.from({ length: count }, (_, n) =>
    aJob({ ...HANDLER, ...more, queue: `q${(n * 37) % QUEUES}`, priority: (n * 7_919) % 5 }),
  );
}

function inOrder(jobs: readonly Job[]): number[] {
  return ids(jobs.toSorted((a, b) => b.priority - a.priority || a.dueAt - b.dueAt || a.id - b.id));
}

/** Each lane exists, and the store knows it. */
async function openCrowd(): Promise<PostgresTestStore & { jobs: Job[] }> {
  const given = await openTestPostgres();
  const jobs = await submit(given.store, inQueues(4 * QUEUES));
  const [{ lanes } = { lanes: 0 }] = await given.query<{ lanes: number }>(
    `select count(*)::integer as lanes from "${given.schema}".lane where id >= 64`,
  );
  assert.ok(lanes > 80);
  return { ...given, jobs };
}

for (const prefetch of [false, true]) {
  const name = prefetch ? 'prefetches' : 'claims';

  test(`postgres: ${name} of any size take the jobs of many lanes in one order`, async () => {
    await using given = await openCrowd();
    const { store, jobs, query, schema } = given;
    const { id } = await register(store);
    const taken: number[] = [];
    for (const limit of [1, 3, 20, 100, 333, 1_000]) {
      taken.push(...ids(await claim(store, id, { limit, offer: OFFER, prefetch })));
    }
    assert.deepEqual(taken, inOrder(jobs));
    // By the index across lanes. A session reports its statistics with its next statement after a second.
    await eventually(async () => {
      await claim(store, id, { offer: OFFER, prefetch });
      const scans = `select idx_scan::integer as scans from pg_stat_all_indexes where schemaname = $1 and indexrelname = 'live_crowd'`;
      const [row] = await query<{ scans: number }>(scans, [schema]);
      return (row?.scans ?? 0) >= 18;
    });
  });

  test(`postgres: ${name} at the same time take each job of many lanes once`, async () => {
    await using given = await openCrowd();
    const { store, jobs } = given;
    const workers = await Promise.all(Array.from({ length: 6 }, () => register(store)));
    const taken: number[] = [];
    const take = async (workerId: number) => {
      for (;;) {
        const claimed = await claim(store, workerId, { limit: 20, offer: OFFER, prefetch });
        if (claimed.length === 0) return;
        taken.push(...ids(claimed));
      }
    };
    await Promise.all(workers.map(({ id }) => take(id)));
    assert.deepEqual(
      taken.toSorted((a, b) => a - b),
      ids(jobs),
    );
  });
}

test('postgres: a claim from many lanes takes none of a paused queue, of a lane that it does not serve, or that is new', async () => {
  await using given = await openCrowd();
  await using other = await openTestPostgres({ url: given.url, schema: given.schema });
  const { store, jobs } = given;
  const { id } = await register(store);
  const [first] = await claim(store, id, { limit: 1, offer: OFFER });
  assert.equal(first?.id, inOrder(jobs)[0]);
  const urgent = { ...HANDLER, priority: 9 };
  // The other process makes its lanes after this one has read all of them, and pauses a queue.
  await store.setQueue('q149', { paused: true }, forever);
  await submitOne(other.store, aJob({ ...urgent, queue: 'q149' }));
  const served = await submitOne(other.store, aJob({ ...urgent, queue: 'new' }));
  await submitOne(other.store, aJob({ ...urgent, handler: 'another' }));
  const taken: number[] = [];
  for (let got = [0]; got.length > 0; taken.push(...got))
    got = ids(await claim(store, id, { limit: 50, offer: OFFER }));
  const open = jobs.filter((job) => job.queue !== 'q149' && job.id !== first?.id);
  assert.deepEqual(
    taken.toSorted((a, b) => a - b),
    [...ids(open), served.id],
  );
});

test('postgres: a prefetch from many lanes stops at a job that must not be prefetched', async () => {
  await using given = await openCrowd();
  const { store, jobs } = given;
  const { id } = await register(store);
  const [before, at] = [inOrder(jobs).slice(0, 2), inOrder(jobs)[2] ?? 0];
  await store.edit(at, { maxAttempts: 1 }, forever);
  const take = async (prefetch: boolean, limit: number) =>
    ids(await claim(store, id, { limit, offer: OFFER, prefetch }));
  assert.deepEqual(await take(true, 100), before);
  assert.deepEqual(await take(true, 100), []);
  assert.deepEqual(await take(false, 1), [at]);
  assert.equal((await take(true, 100)).length, 100);
});

test('postgres: a claim looks at the jobs of many lanes in one order, not at each lane', async () => {
  await using given = await openCrowd();
  const { store, url, schema } = given;
  const { id } = await register(store);
  await using stack = new AsyncDisposableStack();
  const client = new pg.Client({ connectionString: url });
  stack.defer(() => client.end());
  await client.connect();
  // Tables of few rows, like that of queues, may never be analysed.
  await client.query(`analyze "${schema}".live, "${schema}".lane`);
  // The settings of the store's connections.
  await client.query('set plan_cache_mode = force_generic_plan; set enable_seqscan = off; set enable_bitmapscan = off');
  const sql = statements(schema, { prepared: false });
  const asked = { claimCrowd: ['{}', 1, QUEUES], claimCrowdPrefetch: ['{}', 1, '{}', QUEUES] } as const;
  for (const [name, values] of Object.entries(asked)) {
    const text = `explain (analyze, buffers, format json) ${sql[name as keyof typeof asked].text}`;
    type Plan = Record<'Shared Hit Blocks' | 'Shared Read Blocks' | 'Actual Rows', number>;
    const { rows } = await client.query<{ 'QUERY PLAN': { Plan: Plan }[] }>(text, [id, 1, '{}', ...values]);
    const plan = rows[0]?.['QUERY PLAN'][0]?.Plan as Plan;
    const pages = plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
    assert.ok(pages < MAX_PAGES, `${name} read ${pages} pages for one job of ${QUEUES} queues`);
  }
  const [{ running } = { running: 0 }] = await given.query<{ running: number }>(
    `select count(*)::integer as running from "${schema}".live where claimed`,
  );
  assert.equal(running, 2);
});

/** Limits and rates where two transactions meet in an order that is rare. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { aJob } from '../../../contract/kit/builders.ts';
import { cancel, claim, forever, ids, register, submit, succeed } from '../../../contract/kit/steps.ts';
import type { NewJob } from '../../../src/core/job.ts';
import { eventually } from '../../kit/eventually.ts';
import { openTestPostgres, type PostgresTestStore } from '../../kit/postgres.ts';

const KEEP = { doneMs: 3_600_000, otherMs: 3_600_000, statsMs: 3_600_000 };
const GATE = 4711;

interface Held extends AsyncDisposable {
  /** Resolves once a statement waits. */
  reached: () => Promise<unknown>;
  release: () => Promise<void>;
}

/** Holds up statements whose text contains `part`, with their snapshot taken, when they ask for the time. */
async function holdUp({ url, schema, query }: PostgresTestStore, part: string): Promise<Held> {
  await query(`create function "${schema}".held_up() returns timestamptz language plpgsql volatile as $$ begin
    if position('${part}' in current_query()) > 0 and position('held_up' in current_query()) = 0 then
      perform pg_advisory_xact_lock_shared(${GATE}, '"${schema}".meta'::regclass::oid::integer);
    end if;
    return date_trunc('milliseconds', clock_timestamp()); end $$`);
  await query(`create or replace function "${schema}".now() returns timestamptz language sql volatile as
    $$ select "${schema}".held_up() $$`);
  const gate = new pg.Client({ connectionString: url });
  await gate.connect();
  const key = `${GATE}, '"${schema}".meta'::regclass::oid::integer`;
  await gate.query(`select pg_advisory_lock(${key})`);
  const waits = `select 1 from pg_locks where locktype = 'advisory' and not granted and classid = ${GATE}
    and objid = '"${schema}".meta'::regclass::oid`;
  return {
    reached: () => eventually(async () => (await query(waits)).length > 0),
    release: async () => void (await gate.query(`select pg_advisory_unlock(${key})`)),
    [Symbol.asyncDispose]: () => gate.end(),
  };
}

/** The name of the meter is in the table, and nothing uses it. */
async function useOnce({ store }: PostgresTestStore, job: NewJob, workerId: number): Promise<void> {
  await submit(store, [job]);
  const [only] = await claim(store, workerId);
  assert.ok(only);
  await succeed(store, { job: only, workerId });
}

for (const [does, part] of [
  ['looks for', 'meter m where'],
  ['deletes', 'meter as m'],
] as const) {
  test(`postgres: a limit that a claim uses while the pruner ${does} unused ones wakes the jobs that wait for it`, async () => {
    await using given = await openTestPostgres();
    const { store } = given;
    const { id } = await register(store, { leaseMs: 3_600_000 });
    const job = aJob({ limits: [{ key: 'k', max: 1 }] });
    await useOnce(given, job, id);
    await using pruner = await holdUp(given, part);
    const pruning = store.sweep('meter', KEEP, 100, forever);
    await pruner.reached();
    const [, waiting] = await submit(store, [job, job]);
    const [first] = await claim(store, id);
    assert.ok(first);
    await pruner.release();
    await pruning;
    await succeed(store, { job: first, workerId: id });
    assert.deepEqual(ids(await claim(store, id)), [waiting?.id]);
  });

  test(`postgres: a rate that a claim uses while the pruner ${does} unused ones keeps its window`, async () => {
    await using given = await openTestPostgres();
    const { store, schema, query } = given;
    const { id } = await register(store, { leaseMs: 3_600_000 });
    const job = aJob({ rates: [{ key: 'k', limit: 1, perMs: 60_000, burst: 0 }] });
    await useOnce(given, job, id);
    await query(`delete from "${schema}".metered_start`);
    await using pruner = await holdUp(given, part);
    const pruning = store.sweep('meter', KEEP, 100, forever);
    await pruner.reached();
    await submit(store, [job, job]);
    assert.equal((await claim(store, id)).length, 1);
    await pruner.release();
    await pruning;
    await store.sweep('metered_start', KEEP, 100, forever);
    await store.sweep('meter', KEEP, 100, forever);
    assert.deepEqual(
      (await store.rates(forever)).map(({ key, started, waiting }) => ({ key, started, waiting })),
      [{ key: 'k', started: 1, waiting: 1 }],
    );
  });
}

test('postgres: jobs do not wait for one that its claim has chosen and not started', async () => {
  await using given = await openTestPostgres();
  const { store, schema, query, url } = given;
  const { id } = await register(store, { leaseMs: 3_600_000 });
  const job = aJob({ limits: [{ key: 'k', max: 1 }] });
  await useOnce(given, job, id);
  const holder = new pg.Client({ connectionString: url });
  await holder.connect();
  await holder.query(`begin; select * from "${schema}".meter for update`);
  const [first, second] = await submit(store, [job, job]);
  const claiming = claim(store, id);
  const waits = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and position('"${schema}".meter' in query) > 0`;
  await eventually(async () => (await query(waits)).length > 0);
  await store.drainWorker(id, forever);
  await holder.query('rollback');
  await holder.end();
  assert.deepEqual(await claiming, []);
  await store.undrainWorker(id, forever);
  await cancel(store, first?.id ?? 0);
  assert.deepEqual(ids(await claim(store, id)), [second?.id]);
});

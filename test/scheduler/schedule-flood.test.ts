/** Very many schedules that are due at the same instant: judged in bounded pieces, each once, while others go on. */

import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { aJob } from '../../contract/kit/builders.ts';
import { VirtualClock } from '../../contract/kit/clock.ts';
import { makeSchedule, PERIOD } from '../../contract/kit/schedules.ts';
import { claimOne, forever, succeed } from '../../contract/kit/steps.ts';
import { silentLog } from '../../src/ops/log.ts';
import { Metrics } from '../../src/ops/metrics.ts';
import { Wake } from '../../src/ops/wake.ts';
import { createScheduler } from '../../src/scheduler/create-scheduler.ts';
import { ticker } from '../../src/scheduler/duties/ticker.ts';
import type { Ticked } from '../../src/store/schedule-store.ts';
import type { Store } from '../../src/store/store.ts';
import { effort } from '../effort.ts';
import { openTestPostgres } from '../kit/postgres.ts';
import { openTestSqlite } from '../kit/sqlite.ts';

/** In one transaction. On SQLite everybody else waits for it to end. */
const MOST = { postgres: 1_000, sqlite: 200, memory: 200 };

/** The duty of one instance; what each of its calls did is kept. */
function instanceOn(store: Store) {
  const calls: Ticked[] = [];
  const tick = store.tick.bind(store);
  store.tick = async (request, signal) => {
    const told = await tick(request, signal);
    calls.push(told);
    return told;
  };
  const options = { store, clock: new VirtualClock(), random: () => 0.5, log: silentLog, instanceId: 'me' };
  const metrics = new Metrics('0', 'me');
  const { context } = createScheduler({ ...options, metrics, leaseMs: 30_000, heartbeatMs: 5_000 });
  return { calls, loop: ticker(context, new Wake()) };
}

/** A job that has nothing to do with it is submitted, claimed and done between two pieces, and the flood is not over. */
async function goesOn(store: Store, { calls, loop }: ReturnType<typeof instanceOn>): Promise<void> {
  await loop.tick(forever);
  const stranger = async () => succeed(store, await claimOne(store, aJob({ priority: 9 })));
  await Promise.all([stranger(), loop.tick(forever)]);
  assert.equal(calls.at(-1)?.more, true);
}

async function untilCalm({ loop, calls }: ReturnType<typeof instanceOn>): Promise<void> {
  do await loop.tick(forever);
  while (calls.at(-1)?.more === true || (calls.at(-1)?.contended.length ?? 0) > 0);
}

function assertBounded({ driver }: Store, calls: readonly Ticked[]): number {
  for (const { ticks, failed } of calls) {
    assert.ok(ticks.length <= MOST[driver]);
    assert.deepEqual(failed, []);
  }
  return calls.reduce((sum, { ticks }) => sum + ticks.length, 0);
}

test('flood: on PostgreSQL two instances share what is due at once, in pieces, each tick once', async () => {
  await using given = await openTestPostgres();
  await using other = await openTestPostgres({ url: given.url, schema: given.schema });
  const { store, query } = given;
  const s = `"${given.schema}"`;
  await makeSchedule(store, { name: 's-0' });
  await query(`insert into ${s}.schedule (name, owner, spec, created_at, updated_at)
    select 's-' || n, owner, spec, created_at, updated_at
    from ${s}.schedule, generate_series(1, ${effort.dueAtOnce - 1}) n`);
  await query(`insert into ${s}.schedule_line (schedule_id, key, cursor, next_due)
    select s.id, '', l.cursor, l.next_due
    from ${s}.schedule s, ${s}.schedule_line l where s.name <> 's-0'`);
  await given.advance(PERIOD + 1_000);

  const [one, two] = [instanceOn(store), instanceOn(other.store)];
  await goesOn(store, one);
  await Promise.all([untilCalm(one), untilCalm(two)]);
  assert.equal(assertBounded(store, [...one.calls, ...two.calls]), effort.dueAtOnce);
  const [counted] = await query(`select count(*)::integer as ticks, count(distinct schedule_id)::integer as schedules,
    count(distinct job_id)::integer as jobs, (select count(*)::integer - 1 from ${s}.job) as stored from ${s}.tick`);
  const { dueAtOnce: all } = effort;
  assert.deepEqual(counted, { ticks: all, schedules: all, jobs: all, stored: all });
});

test('flood: on SQLite what is due at once is judged in pieces, each tick once', async () => {
  await using given = await openTestSqlite();
  const { store } = given;
  await makeSchedule(store, { name: 's-0' });
  using database = new DatabaseSync(store.location, { timeout: 5_000 });
  database.exec(`
    with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${effort.dueAtOnce - 1})
    insert into schedule (name, owner, spec, created_at, updated_at)
    select 's-' || n, owner, spec, created_at, updated_at from numbers, schedule where name = 's-0';
    insert into schedule_line (schedule_id, key, cursor, next_due)
    select s.id, '', l.cursor, l.next_due from schedule s, schedule_line l where s.name <> 's-0'`);
  await given.advance(PERIOD + 1_000);

  const instance = instanceOn(store);
  await goesOn(store, instance);
  await untilCalm(instance);
  assert.equal(assertBounded(store, instance.calls), effort.dueAtOnce);
  const counted = database
    .prepare(`select count(*) as ticks, count(distinct schedule_id) as schedules, count(distinct job_id) as jobs,
      (select count(*) - 1 from job) as stored from tick`)
    .get();
  const { dueAtOnce: all } = effort;
  assert.deepEqual({ ...counted }, { ticks: all, schedules: all, jobs: all, stored: all });
});

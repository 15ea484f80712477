/** Schedules on PostgreSQL: several instances at once, and what is left when one dies in the middle. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { VirtualClock } from '../../../contract/kit/clock.ts';
import { ledger, MINUTE, makeSchedule, PERIOD, story, tickAll } from '../../../contract/kit/schedules.ts';
import { forever } from '../../../contract/kit/steps.ts';
import { type Log, silentLog } from '../../../src/ops/log.ts';
import { Metrics } from '../../../src/ops/metrics.ts';
import { Wake } from '../../../src/ops/wake.ts';
import { createScheduler } from '../../../src/scheduler/create-scheduler.ts';
import { ticker } from '../../../src/scheduler/duties/ticker.ts';
import { openTestPostgres, type PostgresTestStore } from '../../kit/postgres.ts';

const ALL = { policy: 'all', windowMs: 60 * MINUTE, max: 10 } as const;

async function countJobs({ query, schema }: PostgresTestStore): Promise<number> {
  const [row] = await query<{ count: number }>(`select count(*)::integer as count from "${schema}".job`);
  return row?.count ?? 0;
}

test('postgres: of several instances at once none doubles a tick and none is lost', async () => {
  await using given = await openTestPostgres();
  await using other = await openTestPostgres({ url: given.url, schema: given.schema });
  const anchor = await given.store.now(forever);
  const names = Array.from({ length: 30 }, (_, index) => `s-${index}`);
  const made = await Promise.all(
    names.map((name) => makeSchedule(given.store, { name, anchor, overlap: 'allow', catchup: ALL })),
  );
  const judge = async ({ store }: PostgresTestStore): Promise<number> => {
    const { ticks } = await store.tick({ limit: 7 }, forever);
    return ticks.length;
  };
  for (let round = 1; round <= 4; round += 1) {
    await given.advance(PERIOD + 10);
    for (;;) {
      const judged = await Promise.all([judge(given), judge(other), judge(given), judge(other)]);
      const { nextDueAt, now } = await given.store.tick({ limit: 1 }, forever);
      if (judged.every((count) => count === 0) && (nextDueAt ?? 0) > now) break;
    }
  }
  for (const schedule of made)
    assert.deepEqual(await story(given.store, schedule), ['ran 1', 'ran 2', 'ran 3', 'ran 4']);
  assert.equal(await countJobs(given), names.length * 4, 'one job for each tick that ran');
});

test('postgres: a schedule that somebody else is at work on is left to them, and told', async () => {
  await using given = await openTestPostgres();
  const { store, schema, url } = given;
  const [held, free] = [await makeSchedule(store, { name: 'held' }), await makeSchedule(store, { name: 'free' })];
  await given.advance(PERIOD + 1_000);
  const holder = new pg.Client({ connectionString: url });
  await holder.connect();
  await holder.query(`begin; select * from "${schema}".schedule where id = ${held.id} for update`);
  const told = await store.tick({ limit: 1_000 }, forever);
  assert.deepEqual(
    told.ticks.map(({ schedule }) => schedule),
    ['free'],
  );
  assert.deepEqual(told.contended, [{ schedule: 'held', dueAt: held.anchor + PERIOD }]);
  const logged: unknown[] = [];
  const log: Log = { ...silentLog, debug: (fields) => logged.push(fields) };
  const metrics = new Metrics('0', 'me');
  const clock = new VirtualClock();
  const options = { store, clock, random: () => 0.5, log, metrics, instanceId: 'me' };
  const { context } = createScheduler({ ...options, leaseMs: 30_000, heartbeatMs: 5_000 });
  using loop = ticker(context, new Wake());
  assert.equal(await loop.tick(forever), 50, 'it does not ask again and again');
  const due = new Date(held.anchor + PERIOD).toISOString();
  assert.deepEqual(logged, [{ schedule: 'held', due, instance_id: 'me' }]);
  await holder.query('rollback');
  await holder.end();
  assert.deepEqual(
    (await tickAll(store)).map(({ schedule }) => schedule),
    ['held'],
  );
  assert.deepEqual(await story(store, free), ['ran 1']);
});

test('postgres: of many who run a schedule by hand at once, the policy lets one', async () => {
  await using given = await openTestPostgres();
  await makeSchedule(given.store);
  const request = { kind: 'manual', keys: null, instants: [] } as const;
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => given.store.runSchedule('nightly', request, {}, forever)),
  );
  const verdicts = answers.flatMap((answer) => answer?.ticks ?? []).map(({ verdict }) => verdict);
  assert.deepEqual(verdicts.filter((verdict) => verdict === 'ran').length, 1);
  assert.equal(await countJobs(given), 1);
});

test('postgres: an instance that dies before its commit leaves nothing half', async () => {
  await using given = await openTestPostgres();
  const { store, schema, query } = given;
  const made = await makeSchedule(store);
  await given.advance(PERIOD + 1_000);
  // The last statement about a line fails, as if the connection had broken there.
  await query(`create function "${schema}".broken() returns trigger language plpgsql as
    $$ begin raise exception 'broken'; end $$`);
  await query(`create trigger broken before update on "${schema}".schedule_line
    for each row execute function "${schema}".broken()`);
  await assert.rejects(store.tick({ limit: 10 }, forever), /broken/);
  assert.deepEqual(await ledger(store, 'nightly'), []);
  assert.equal(await countJobs(given), 0);
  assert.equal((await store.schedule('nightly', forever))?.lastVerdict, null);
  await query(`drop trigger broken on "${schema}".schedule_line`);
  await tickAll(store);
  assert.deepEqual(await story(store, made), ['ran 1']);
  assert.equal(await countJobs(given), 1);
});

test('postgres: a tick that has a row is not run again, even if the line has forgotten it', async () => {
  await using given = await openTestPostgres();
  const { store, schema, query } = given;
  const made = await makeSchedule(store, { overlap: 'allow' });
  await given.advance(PERIOD + 1_000);
  await tickAll(store);
  await query(
    `update "${schema}".schedule_line set cursor = cursor - interval '10 minutes', next_due = cursor, tail_id = null`,
  );
  await assert.rejects(store.tick({ limit: 10 }, forever), /tick_once/);
  assert.deepEqual(await story(store, made), ['ran 1']);
  assert.equal(await countJobs(given), 1);
});

test('postgres: a look at schedules that are not due is one statement, which reads the end of an index', async (t) => {
  await using given = await openTestPostgres();
  const { store, schema, query } = given;
  await makeSchedule(store);
  const sent = t.mock.method(pg.Client.prototype, 'query');
  const { nextDueAt, now } = await store.tick({ limit: 1_000 }, forever);
  assert.ok((nextDueAt ?? 0) > now);
  const looks = sent.mock.calls
    .map(({ arguments: [statement] }) => statement as unknown as string | { text: string })
    .map((statement) => (typeof statement === 'string' ? statement : statement.text))
    .filter((text) => text.includes(`"${schema}".schedule_line`));
  sent.mock.restore();
  assert.equal(looks.length, 1);

  await query(`insert into "${schema}".schedule_line (schedule_id, key, cursor, next_due)
    select 1000 + n, '', now(), now() + interval '1 day' + n * interval '1 s' from generate_series(1, 5000) n`);
  await query(`insert into "${schema}".tick (schedule_id, kind, key, scheduled_for, through, count, verdict, created_at)
    select 1, 'tick', '', now() - n * interval '1 s', now(), 1, 'missed', now() from generate_series(1, 5000) n`);
  await query(`analyze "${schema}".schedule_line, "${schema}".tick`);
  const plan = await query<{ 'QUERY PLAN': string }>(`explain (costs off) ${looks[0]}`);
  const lines = plan.map((row) => row['QUERY PLAN']).join('\n');
  assert.match(lines, /Index Only Scan using schedule_line_due on schedule_line/);
  assert.match(lines, /Limit\s+->\s+Index Only Scan using schedule_line_due/, 'one entry of it');
  assert.match(lines, /using tick_stops on tick/);
  assert.doesNotMatch(lines, /Seq Scan|Sort/);
});

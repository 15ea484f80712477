/** Leadership on PostgreSQL: session locks and rows, between two stores that stand for two processes. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { aJob } from '../../../contract/kit/builders.ts';
import { claim, forever, readOne, register, submit, submitOne } from '../../../contract/kit/steps.ts';
import { DUTY_NUMBERS, type Duty } from '../../../src/core/duty.ts';
import { isWorkronError } from '../../../src/core/error.ts';
import { type Log, silentLog } from '../../../src/ops/log.ts';
import type { Led } from '../../../src/store/cluster-store.ts';
import type { Hint } from '../../../src/store/hint.ts';
import { Database } from '../../../src/store/postgres/base/database.ts';
import { type DirectSession, type Lent, SESSION_MARK } from '../../../src/store/postgres/base/direct-session.ts';
import { isWrite } from '../../../src/store/postgres/base/is-write.ts';
import { openPostgres } from '../../../src/store/postgres/base/open.ts';
import { statements } from '../../../src/store/postgres/base/sql.ts';
import { types } from '../../../src/store/postgres/base/values.ts';
import { beginFenced, Leadership } from '../../../src/store/postgres/cluster/leadership.ts';
import type { Store } from '../../../src/store/store.ts';
import { eventually } from '../../kit/eventually.ts';
import { openTestPostgres, type PostgresTestStore } from '../../kit/postgres.ts';
import { tourStore } from '../../kit/store-tour.ts';

const TERM_MS = 5_000;

async function lead(store: Store, instanceId: string, term: number | null = null, duty: Duty = 'reaper'): Promise<Led> {
  const [led] = await store.lead({ instanceId, duties: [{ duty, term }], termMs: TERM_MS }, forever);
  return led ?? assert.fail();
}

async function openTwo() {
  const one = await openTestPostgres();
  const two = await openTestPostgres({ url: one.url, schema: one.schema });
  return {
    one,
    two,
    async [Symbol.asyncDispose]() {
      await two[Symbol.asyncDispose]();
      await one[Symbol.asyncDispose]();
    },
  };
}

/** The backends that hold the lock of the duty. */
async function holders({ query, schema }: PostgresTestStore, duty: Duty = 'reaper'): Promise<number[]> {
  const rows = await query<{ pid: number }>(
    `select k.pid from pg_locks k join pg_database d on d.oid = k.database, "${schema}".meta m
     where d.datname = current_database() and k.locktype = 'advisory' and k.granted and k.objsubid = 2
       and k.classid = m.lock_space::oid and k.objid = ($1::integer)::oid`,
    [DUTY_NUMBERS[duty]],
  );
  return rows.map(({ pid }) => pid);
}

test('leadership: the key of a duty’s lock is stored, shown, and the one that is held', async () => {
  await using given = await openTestPostgres();
  const { locked, lockKey } = await lead(given.store, 'one');
  const [meta] = await given.query<{ lock_space: number }>(`select lock_space from "${given.schema}".meta`);
  assert.deepEqual([locked, lockKey], [true, [meta?.lock_space, DUTY_NUMBERS.reaper]]);
  assert.equal((await holders(given)).length, 1);
  const [row] = await given.query<{ number: number }>(`select number from "${given.schema}".leader`);
  assert.equal(row?.number, DUTY_NUMBERS.reaper);
});

test('leadership: a term that was renewed before the clock was set back is over, also if its leader held no lock', async () => {
  await using given = await openTestPostgres();
  await lead(given.store, 'one');
  await given.query(
    `update "${given.schema}".leader set instance_id = 'gone', locked = false,
      expires_at = "${given.schema}".now() + interval '10 minutes'`,
  );
  assert.equal((await given.store.duties(forever))[0]?.over, true);
  const led = await lead(given.store, 'two');
  assert.deepEqual([led.leads, led.term, led.over], [true, 2, false]);
});

test('leadership: while the leader’s session lives its lock stands in the way, and that is told', async () => {
  await using both = await openTwo();
  await lead(both.one.store, 'one');
  const led = await lead(both.two.store, 'two');
  assert.deepEqual([led.leads, led.contended, led.instanceId, led.term], [false, true, 'one', 1]);
});

test('leadership: a leader whose session ends hears of it, and another leads at once, long before the term is over', async () => {
  await using both = await openTwo();
  const heard: Hint[] = [];
  both.one.store.subscribe((hint) => heard.push(hint));
  await lead(both.one.store, 'one');
  const [pid] = await holders(both.one);
  await both.one.query('select pg_terminate_backend($1)', [pid]);
  await eventually(async () => heard.some(({ topic }) => topic === 'leadership'));
  const led = await lead(both.two.store, 'two');
  assert.deepEqual([led.leads, led.term, led.locked], [true, 2, true]);

  // It comes back on a new session, and finds that it does not lead any more.
  const back = await lead(both.one.store, 'one', 1);
  assert.deepEqual([back.leads, back.contended, back.instanceId], [false, true, 'two']);
});

test('leadership: who comes back first after its own session ended leads in a new term', async () => {
  await using given = await openTestPostgres();
  const heard: Hint[] = [];
  given.store.subscribe((hint) => heard.push(hint));
  await lead(given.store, 'one');
  const [pid] = await holders(given);
  await given.query('select pg_terminate_backend($1)', [pid]);
  // Before that a call may still go to the session that is ending, and is told so.
  await eventually(async () => heard.some(({ topic }) => topic === 'leadership'));
  assert.deepEqual(await holders(given), []);
  const led = await lead(given.store, 'one');
  assert.deepEqual([led.leads, led.term, led.locked], [true, 2, true]);
});

test('leadership: a frozen leader keeps its lock and is passed by its row; it lets go when it wakes', async () => {
  await using both = await openTwo();
  const { one, two } = both;
  await lead(one.store, 'one');
  await one.advance(TERM_MS + 1_000);
  const passed = await lead(two.store, 'two');
  assert.deepEqual([passed.leads, passed.term, passed.locked, passed.contended], [true, 2, false, true]);

  // A third who finds the lock free later does not mistake that for the end of a leader who never had it.
  const awake = await lead(one.store, 'one', 1);
  assert.deepEqual([awake.leads, awake.instanceId], [false, 'two']);
  assert.deepEqual(await holders(one), []);
  const third = await lead(one.store, 'three');
  assert.deepEqual([third.leads, third.instanceId, third.term], [false, 'two', 2]);

  // The one who leads takes the lock as soon as it is free.
  await lead(two.store, 'two', 2);
  assert.equal((await lead(two.store, 'two', 2)).locked, true);
  assert.equal((await holders(one)).length, 1);
});

test('leadership: a leader that resigns leaves no lock behind once its process is gone', async () => {
  await using two = await openTestPostgres();
  const { url, schema } = two;
  {
    await using one = await openPostgres({ url, schema, log: silentLog });
    await lead(one, 'one');
    await one.resign('one', forever);
    const led = await lead(two.store, 'two');
    assert.deepEqual([led.leads, led.term, led.locked], [true, 2, false]);
  }
  await eventually(async () => (await lead(two.store, 'two', 2)).locked, { retryErrors: true });
  assert.equal((await holders(two)).length, 1);
});

test('leadership: nobody takes a duty while its leader writes, and the leader renews meanwhile', async () => {
  await using both = await openTwo();
  const { one, two } = both;
  await lead(one.store, 'one', null, 'promoter');
  const { id } = await submitOne(one.store, aJob({ delayMs: 1_000 }));
  await one.advance(1_500);

  // The leader's write waits for a row that the test holds.
  const blocker = new pg.Client({ connectionString: one.url });
  await blocker.connect();
  await blocker.query(`begin; lock table "${one.schema}".live in share mode`);
  const written = one.store.fenced(() => ({ duty: 'promoter', term: 1 })).promote(10, forever);
  const waits = `select 1 from pg_locks where relation = '"${one.schema}".live'::regclass and not granted`;
  await eventually(async () => (await one.query(waits)).length > 0);

  assert.equal((await lead(one.store, 'one', 1, 'promoter')).leads, true);
  await one.advance(TERM_MS + 1_000);
  assert.equal((await lead(two.store, 'two', null, 'promoter')).leads, false);
  await blocker.query('rollback');
  await blocker.end();
  assert.equal((await written).count, 1);
  assert.equal((await readOne(one.store, id)).status, 'pending');
  assert.deepEqual([(await lead(two.store, 'two', null, 'promoter')).leads], [true]);
});

test('leadership: a leader frozen in the middle of a write is cut off, and what it began is undone', async () => {
  await using both = await openTwo();
  const { one, two } = both;
  const { term } = await lead(one.store, 'one', null, 'ticker');
  // As the store begins a leader's transaction, on a connection that then falls silent.
  const frozen = new pg.Client({ connectionString: one.url });
  const cut = new Promise<void>((resolve) => frozen.once('end', resolve));
  frozen.on('error', () => undefined);
  await frozen.connect();
  await beginFenced(`"${one.schema}"`, () => ({ duty: 'ticker', term }))(frozen);
  await frozen.query(`update "${one.schema}".meta set clock_offset_ms = 1`);
  await cut;
  const led = await eventually(
    async () => {
      const answer = await lead(two.store, 'two', null, 'ticker');
      return answer.leads && answer;
    },
    { retryErrors: true },
  );
  assert.equal(led.term, term + 1);
  const [meta] = await one.query<{ clock_offset_ms: string }>(`select clock_offset_ms from "${one.schema}".meta`);
  assert.equal(Number(meta?.clock_offset_ms), 0);
  const late = one.store.fenced(() => ({ duty: 'ticker', term }));
  await assert.rejects(late.forgetInstances(0, forever), (error) => isWorkronError(error, 'leadership_lost'));
});

test('leadership: on a session that a pooler lends to others there are no locks, and the row alone decides', async () => {
  await using given = await openTestPostgres();
  const { url, schema, query } = given;
  const session = new pg.Client({ connectionString: url });
  await using stack = new AsyncDisposableStack();
  stack.defer(() => session.end());
  await session.connect();
  const [meta] = await query<{ lock_space: number }>(`select lock_space from "${schema}".meta`);
  const warnings: string[] = [];
  const log: Log = { ...silentLog, warn: (_, message) => warnings.push(message) };
  await using database = Database.open({ url, poolSize: 1, log });
  const markAs = (mark: string) => session.query(`select set_config('${SESSION_MARK}', $1, false)`, [mark]);
  /** A process whose statements all arrive on this one session, whoever has used it before. */
  const aProcess = (mark: string) => {
    const lent = {
      mark,
      query: async (text: string, values: readonly unknown[]) =>
        (await session.query({ text, values: [...values], types })).rows,
    };
    const direct = { use: (body) => body(lent as Lent) } satisfies Pick<DirectSession, 'use'>;
    return new Leadership({ database, direct, sql: statements(schema), lockSpace: meta?.lock_space ?? 0, log });
  };
  const asks = (leadership: Leadership, instanceId: string, term: number | null) =>
    leadership.lead({ instanceId, duties: [{ duty: 'reaper', term }], termMs: TERM_MS }, forever);

  await markAs('one');
  const one = aProcess('one');
  assert.deepEqual(
    (await asks(one, 'one', null)).map(({ leads, locked }) => [leads, locked]),
    [[true, true]],
  );
  await markAs('two');
  assert.deepEqual(
    (await asks(one, 'one', 1)).map(({ leads, locked }) => [leads, locked]),
    [[true, false]],
  );
  assert.match(warnings.join(), /--db-direct-url/);
  const two = aProcess('two');
  assert.deepEqual(
    (await asks(two, 'two', null)).map(({ leads, instanceId }) => [leads, instanceId]),
    [[false, 'one']],
  );
  await given.advance(TERM_MS + 1_000);
  assert.deepEqual(
    (await asks(two, 'two', null)).map(({ leads, term }) => [leads, term]),
    [[true, 2]],
  );
  assert.deepEqual(
    (await asks(one, 'one', 1)).map(({ leads, term }) => [leads, term]),
    [[false, 2]],
  );
});

test('leadership: who leads no more opens no rate', async () => {
  await using both = await openTwo();
  const { one, two } = both;
  await lead(one.store, 'one', null, 'promoter');
  const { id } = await register(one.store, { leaseMs: 3_600_000 });
  const rates = [{ key: 'k', limit: 1, perMs: 60_000, burst: 0 }];
  await submit(one.store, [aJob({ rates }), aJob({ rates })]);
  assert.equal((await claim(one.store, id)).length, 1);
  await one.advance(61_000);
  await lead(two.store, 'two', null, 'promoter');
  const opened = `select 1 from "${one.schema}".parking where opens_at = '-infinity'`;

  await assert.rejects(one.store.fenced(() => ({ duty: 'promoter', term: 1 })).promote(10, forever), {
    code: 'leadership_lost',
  });
  assert.equal((await one.query(opened)).length, 0);
  await two.store.fenced(() => ({ duty: 'promoter', term: 2 })).promote(10, forever);
  assert.equal((await one.query(opened)).length, 1);
});

test('leadership: every statement that changes or locks rows is known as a write, which needs a fence', async () => {
  await using given = await openTestPostgres();
  const all: { text: string; name?: string }[] = Object.values(statements(given.schema));
  await tourStore(
    given.store,
    (ms) => given.advance(ms),
    (call, text) => all.push({ name: call, text }),
  );
  let writes = 0;
  for (const statement of all) {
    const rows = await given
      .query<{ 'QUERY PLAN': unknown }>(`explain (generic_plan, format json) ${statement.text}`)
      .catch(() => []);
    const plan = JSON.stringify(rows);
    if (!/"(ModifyTable|LockRows)"/.test(plan)) continue;
    writes += 1;
    assert.ok(isWrite(statement), `${statement.name} is taken for a read`);
  }
  assert.ok(writes > 100, `${writes} statements that write`);
  assert.ok(all.some((statement) => !isWrite(statement)));
});

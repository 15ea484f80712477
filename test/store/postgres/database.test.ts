import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { forever } from '../../../contract/kit/steps.ts';
import { silentLog } from '../../../src/ops/log.ts';
import { Database } from '../../../src/store/postgres/base/database.ts';
import { openTestPostgres } from '../../kit/postgres.ts';

/** One connection, so that what a statement leaves behind meets the next one. */
async function openDatabase() {
  const given = await openTestPostgres();
  const { url, schema } = given;
  const database = Database.open({ url, poolSize: 1, log: silentLog });
  const alarms = `"${schema}".alarm`;
  const then = (text: string) => ({ statement: { text }, values: [] });
  return {
    given,
    database,
    add: (subject: string) => `insert into ${alarms} values ('${subject}', now()) returning subject`,
    addCount: `insert into ${alarms} select 'after ' || count(*), now() from ${alarms}`,
    subjects: async () => {
      const rows = await given.query<{ subject: string }>(`select subject from ${alarms} order by subject`);
      return rows.map(({ subject }) => subject);
    },
    run: (text: string) => database.query({ text }, [], forever),
    runThen: (text: string, next: string) => database.queryThen({ text }, [], then(next), forever),
    async [Symbol.asyncDispose]() {
      await database[Symbol.asyncDispose]();
      await given[Symbol.asyncDispose]();
    },
  };
}

test('postgres: a statement behind another sees what the first has committed', async () => {
  await using db = await openDatabase();
  assert.deepEqual(await db.runThen(db.add('first'), db.addCount), [{ subject: 'first' }]);
  // On the same connection, so behind both.
  await db.run('select 1');
  assert.deepEqual(await db.subjects(), ['after 1', 'first']);
});

test('postgres: of two statements behind each other, each may fail without the other', async () => {
  await using db = await openDatabase();
  await assert.rejects(db.runThen('select 1 / 0', db.add('second')), /division/);
  assert.deepEqual(await db.runThen(db.add('first'), 'select 1 / 0'), [{ subject: 'first' }]);
  await db.run('select 1');
  assert.deepEqual(await db.subjects(), ['first', 'second']);
});

test('postgres: the answer to a statement does not wait for the one behind it', async () => {
  await using db = await openDatabase();
  const blocker = new pg.Client({ connectionString: db.given.url });
  await blocker.connect();
  await blocker.query(`begin; lock table "${db.given.schema}".alarm in access exclusive mode`);
  await db.runThen('select 1', db.add('behind'));
  await blocker.query('commit');
  await blocker.end();
  await db.run('select 1');
  assert.deepEqual(await db.subjects(), ['behind']);
});

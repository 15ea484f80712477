/** What is no transaction is refused as `tx`, before anything is written: a job in it would outlive a rollback. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { drizzle } from 'drizzle-orm/node-postgres';
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import postgres from 'postgres';
import { job, open, type Transaction } from '../../src/index.ts';
import { openEmptiedPostgres } from '../kit/postgres.ts';

const mail = job('mail', { run: (to: string) => `sent to ${to}` });

test('transaction: a pool, or a query builder outside of a transaction, is refused with the remedy', async () => {
  await using place = await openEmptiedPostgres();
  await using workron = await open(place.url, { schema: place.schema, log: 'silent' });
  await using stack = new AsyncDisposableStack();
  const pool = stack.adopt(new pg.Pool({ connectionString: place.url }), (it) => it.end());
  const sql = stack.adopt(postgres(place.url, { max: 1 }), (it) => it.end());
  const dialect = new PostgresDialect({ pool: new pg.Pool({ connectionString: place.url }) });
  const kysely = stack.adopt(new Kysely<object>({ dialect }), (it) => it.destroy());
  const client = stack.adopt(await pool.connect(), (it) => it.release());
  const query = async () => ({ rows: [] });
  const refused: [unknown, RegExp][] = [
    [pool, /got a pool of pg; pass the client of pool\.connect\(\) after begin/],
    [client, /expected an open transaction, but the connection has none; call begin first/],
    [sql, /got the sql of postgres\.js; pass the one that sql\.begin\(\) passes/],
    [kysely, /got a Kysely outside of a transaction/],
    [drizzle(pool), /got a database of Drizzle/],
    [{ $queryRawUnsafe: query, $connect: query }, /got a PrismaClient/],
    [{ query, createQueryRunner: query }, /of TypeORM/],
    [{ query, transaction: query, queryRunner: undefined }, /of TypeORM/],
    [Object.assign(async () => [], { raw: query, client: {} }), /got Knex; pass a function/],
    [null, /tx: expected a pg client/],
    [{}, /tx: expected a pg client/],
    ['begin', /tx: expected a pg client/],
  ];
  for (const [tx, message] of refused) {
    await assert.rejects(workron.submit(mail, 'x', { tx: tx as Transaction }), { code: 'bad_request', message });
  }
  const [row] = await place.query<{ count: string }>(`select count(*) from "${place.schema}".job`);
  assert.equal(Number(row?.count), 0, 'nothing was written');
});

test('transaction: a begin that was not waited for is a transaction', async () => {
  await using place = await openEmptiedPostgres();
  await using workron = await open(place.url, { schema: place.schema, log: 'silent' });
  const client = new pg.Client({ connectionString: place.url });
  await client.connect();
  const begun = client.query('begin');
  const { id } = await workron.submit(mail, 'x', { tx: client });
  await begun;
  await client.query('rollback');
  await client.end();
  await assert.rejects(workron.job(id), { code: 'job_not_found' });
});

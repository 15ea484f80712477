/** Roles of PostgreSQL: each does its task, and nothing that it must not. */

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import pg from 'pg';
import { aJob } from '../../../contract/kit/builders.ts';
import { claimOne, forever, register, submitOne, succeed } from '../../../contract/kit/steps.ts';
import { silentLog } from '../../../src/ops/log.ts';
import { openPostgres } from '../../../src/store/postgres/base/open.ts';
import { grantRoles } from '../../../src/store/postgres/base/roles.ts';
import { openTestPostgres } from '../../kit/postgres.ts';

const DENIED = { code: '42501' };

test('postgres roles: each may do its task, and nothing else', { timeout: 120_000 }, async () => {
  await using opened = await openTestPostgres();
  const { store, url, schema, query } = opened;
  await store.putSecret({ name: 's', keyId: 'k', sealed: 'x' }, forever);
  await submitOne(store, aJob({ env: { PW: 'clear' } }));
  const roles = await grantRoles({ url, schema });
  await grantRoles({ url, schema });
  const password = randomBytes(8).toString('hex');
  const logins = new Map<string, string>();
  await using cleanup = new AsyncDisposableStack();
  for (const role of roles) {
    const login = `${role}_login`;
    await query(`create role "${login}" login password '${password}' in role "${role}"`);
    const address = new URL(url);
    Object.assign(address, { username: login, password });
    logins.set(role.slice(schema.length + 1), address.href);
    cleanup.defer(async () => {
      await query(`drop owned by "${login}"; drop role "${login}"; drop owned by "${role}"; drop role "${role}"`);
    });
  }
  const as = async (role: string, text: string): Promise<pg.QueryResult> => {
    const client = new pg.Client({ connectionString: logins.get(role) as string });
    await client.connect();
    try {
      return await client.query(text);
    } finally {
      await client.end();
    }
  };
  const s = `"${schema}"`;
  const tables = (
    await query<{ name: string }>(`select tablename as name from pg_tables where schemaname = '${schema}'`)
  ).map(({ name }) => name);

  const { rows } = await as('submit', `select ${s}.submit(command => 'true', name => 'by sql') as id`);
  const [job] = await store.read([Number(rows[0].id)], forever);
  assert.equal(job?.name, 'by sql');
  for (const table of tables) {
    await assert.rejects(as('submit', `select * from ${s}.${table} limit 1`), DENIED, `submit reads ${table}`);
    await assert.rejects(as('submit', `delete from ${s}.${table}`), DENIED, `submit deletes from ${table}`);
    await assert.rejects(as('viewer', `delete from ${s}.${table}`), DENIED, `viewer deletes from ${table}`);
  }
  await assert.rejects(as('submit', `select ${s}.enqueue('[]')`), DENIED);
  await assert.rejects(as('submit', `select ${s}.complete(1, 1, 1, null)`), DENIED);
  // A temporary object must not be taken for one of the schema.
  await as('submit', `create temp table meta (x int); select ${s}.submit(command => 'true')`);

  assert.equal((await as('viewer', `select id, name from ${s}.job order by id`)).rows.length >= 2, true);
  for (const text of ['select spec from job', 'select * from job', 'select * from secret', 'select * from token']) {
    await assert.rejects(as('viewer', text.replace('from ', `from ${s}.`)), DENIED, text);
  }
  await assert.rejects(as('viewer', `select ${s}.submit(command => 'true')`), DENIED);

  for (const role of ['worker', 'scheduler']) {
    await using own = await openPostgres({ log: silentLog, url: logins.get(role) as string, schema });
    const worker = await register(own);
    await succeed(own, await claimOne(own, aJob({ priority: 9 }), worker.id));
    for (const ddl of [`create table ${s}.mine (x int)`, `drop table ${s}.job`, `alter table ${s}.job add x int`]) {
      await assert.rejects(as(role, ddl), DENIED, `${role}: ${ddl}`);
    }
  }
  for (const text of [
    `select * from ${s}.token`,
    `insert into ${s}.secret values ('a', 'k', 'x', now(), now())`,
    `update ${s}.meta set clock_offset_ms = 1`,
  ]) {
    await assert.rejects(as('worker', text), DENIED, text);
  }
});

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import pg from 'pg';
import { aJob } from '../../../contract/kit/builders.ts';
import { submitOne } from '../../../contract/kit/steps.ts';
import { isWorkronError } from '../../../src/core/error.ts';
import { silentLog } from '../../../src/ops/log.ts';
import { migrate, requireMigrated } from '../../../src/store/postgres/base/migrate.ts';
import { MIGRATIONS } from '../../../src/store/postgres/base/migrations.ts';
import { openPostgres } from '../../../src/store/postgres/base/open.ts';
import { Child } from '../../kit/child.ts';
import { eventually } from '../../kit/eventually.ts';
import { openTestPostgres, testPostgresUrl, testSchema } from '../../kit/postgres.ts';

test('postgres: a migration killed half-way leaves nothing, and two who migrate next do it once', async () => {
  const url = await testPostgresUrl();
  const schema = testSchema();
  const blocker = new pg.Client({ connectionString: url });
  const watcher = new pg.Client({ connectionString: url });
  await Promise.all([blocker.connect(), watcher.connect()]);
  await blocker.query(`create schema "${schema}"`);
  // A table of the same name in an open transaction holds the migration up in its middle.
  await blocker.query(`begin; create table "${schema}".unique_key (key text)`);
  {
    await using killed = Child.script(new URL('../../kit/postgres-migrate.ts', import.meta.url), url, schema);
    await eventually(async () => {
      const waits = await watcher.query(
        `select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%"${schema}".meta%'`,
      );
      return waits.rows.length > 0;
    });
    await killed.kill();
  }
  const both = [migrate({ url, schema }), migrate({ url, schema })];
  await blocker.query('rollback');
  await Promise.all([blocker.end(), watcher.end()]);

  const answers = await Promise.all(both);
  const { to } = answers[0] ?? assert.fail();
  assert.deepEqual(new Set(answers.map(({ from }) => from)), new Set([0, to]));
  await using given = await openTestPostgres({ url, schema });
  assert.equal((await submitOne(given.store, aJob())).id, 1);
});

test('postgres: of several that begin with no schema at all, one migrates, and the others find it done', async () => {
  // A small one, during which the others come to wait: many changes of the catalog would make their connections look again.
  const script = `create table workron.meta as select 0 as schema_version, 0 as min_code; select pg_sleep(0.3)`;
  const request = {
    url: await testPostgresUrl(),
    schema: testSchema(),
    migrations: [{ version: 1, name: 'first', script }],
  };
  const answers = await Promise.all(Array.from({ length: 3 }, () => migrate(request)));
  assert.equal(answers.filter(({ from }) => from === 0).length, 1);
  assert.ok(answers.every(({ to }) => to === 1));
});

test('postgres: a schema of a newer version is refused, one that lacks migrations is not used', async () => {
  await using given = await openTestPostgres();
  const { url, schema, query } = given;
  await query(`update "${schema}".meta set schema_version = 999, min_code = 999`);
  await assert.rejects(openPostgres({ url, schema, log: silentLog }), (error) => {
    return isWorkronError(error, 'incompatible_schema') && !error.retryable && /newer/.test(error.message);
  });
  const missing = testSchema();
  await assert.rejects(openPostgres({ url, schema: missing, migrate: false, log: silentLog }), (error) => {
    return isWorkronError(error, 'store_unavailable') && /workron migrate/.test(error.message);
  });
});

test('postgres: a schema with other tables, of a version before the first release, is refused with the way out', async () => {
  await using given = await openTestPostgres();
  const { url, query } = given;
  await query(`update "${given.schema}".meta set foundation = 'another'`);
  const earlier = testSchema();
  const file = new URL('../../kit/before-release.sql.gz', import.meta.url);
  const tables = gunzipSync(readFileSync(file)).toString().replaceAll('workron.', `"${earlier}".`);
  await query(`create schema "${earlier}"; ${tables}; update "${earlier}".meta set schema_version = 1`);
  for (const schema of [given.schema, earlier]) {
    for (const migrates of [true, false]) {
      await assert.rejects(openPostgres({ url, schema, migrate: migrates, log: silentLog }), {
        code: 'incompatible_schema',
        retryable: false,
        message: /before the first release.*`workron export.*`workron restore/,
      });
    }
  }
});

test('postgres: a later migration is applied once, while a process of the version before it works', async () => {
  await using given = await openTestPostgres();
  const { url, schema, query, store } = given;
  const script = "alter table workron.job add column colour text not null default 'red'";
  const later = { url, schema, migrations: [...MIGRATIONS, { version: 2, name: '002_later.sql', script }] };
  await submitOne(store, aJob());
  await assert.rejects(requireMigrated(later), (error) => {
    return isWorkronError(error, 'store_unavailable') && /is at version 1 and lacks 002_later\.sql/.test(error.message);
  });

  assert.deepEqual(await migrate(later), { from: 1, to: 2 });
  assert.deepEqual(await migrate(later), { from: 2, to: 2 });
  await submitOne(store, aJob());
  const rows = await query(`select id, colour from "${schema}".job order by id`);
  assert.deepEqual(rows, [
    { id: '1', colour: 'red' },
    { id: '2', colour: 'red' },
  ]);
  // The version before it can also start: the migration did not raise min_code.
  await requireMigrated({ url, schema });
});

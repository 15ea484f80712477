/** Workron behind a real PgBouncer with transaction pooling, without a direct way to the server. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { job, open } from '../../../src/index.ts';
import { noPgBouncer, startPgBouncer } from '../../kit/pgbouncer.ts';
import { queriesTo, testPostgresUrl, testSchema } from '../../kit/postgres.ts';

const skip = noPgBouncer;

test('pgbouncer: processes that open a new schema at once all get it', { skip, timeout: 60_000 }, async () => {
  const direct = await testPostgresUrl();
  const schema = testSchema();
  await using bouncer = await startPgBouncer(direct, 3);
  const options = { schema, log: 'silent', poolSize: 1, preparedStatements: false } as const;
  const opened = await Promise.all([1, 2, 3].map(() => open(bouncer.url, options)));
  for (const workron of opened) await workron.stop();
  const query = queriesTo(direct);
  const migrated = await query<{ schema_version: number }>(`select schema_version from "${schema}".meta`);
  assert.equal(migrated.length, 1);
  await query(`drop schema "${schema}" cascade`);
});

test('pgbouncer: without prepared statements every job runs, however sessions are shared', {
  skip,
  timeout: 60_000,
}, async () => {
  const direct = await testPostgresUrl();
  const schema = testSchema();
  await using bouncer = await startPgBouncer(direct, 4);
  const twice = job('twice', { run: (n: number) => n * 2 });
  {
    await using workron = await open(bouncer.url, { schema, log: 'silent', preparedStatements: false });
    await using submitter = await open(bouncer.url, { schema, log: 'silent', preparedStatements: false });
    await workron.start({ jobs: [twice], concurrency: 20 });
    const handles = await Promise.all(Array.from({ length: 100 }, (_, n) => submitter.submit(twice, n)));
    const results = await Promise.all(handles.map((handle) => handle.result()));
    assert.deepEqual(
      results,
      results.map((_, n) => n * 2),
    );
  }
  await queriesTo(direct)(`drop schema "${schema}" cascade`);
});

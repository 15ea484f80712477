/** The command line on PostgreSQL: migrate, a scheduler, and a worker attached to the database. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { callWorkron } from '../kit/command-line.ts';
import { testPostgresUrl, testSchema } from '../kit/postgres.ts';
import { startWorkron } from '../kit/workron-process.ts';

test('postgres: migrate makes the schema; scheduler and attached worker share it', { timeout: 120_000 }, async () => {
  const url = await testPostgresUrl();
  const schema = testSchema();
  const database = ['--db-url', url, '--db-schema', schema, '--log-level', 'warn'];
  try {
    const migrated = await callWorkron(['migrate', ...database]);
    assert.equal(migrated.code, 0, migrated.stderr);
    assert.match(migrated.stdout, /^postgres .*: the schema is up to date\n$/);

    await using scheduler = await startWorkron({ args: ['scheduler', '--port', '0', ...database] });
    await using worker = await startWorkron({ args: ['worker', '--workers', '2', ...database] });
    assert.equal(worker.url, '', 'a worker has no API');
    const env = { WORKRON_URL: scheduler.url };
    const ran = await callWorkron(['run', '-q', '--', 'echo shared; exit 5'], { env });
    assert.deepEqual(ran, { code: 5, stdout: 'shared\n', stderr: '' });
    const { stdout } = await callWorkron(['workers'], { env });
    assert.match(stdout, / 0\/2 .* direct /);
  } finally {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(`drop schema if exists ${schema} cascade`);
    await client.end();
  }
});

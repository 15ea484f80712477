/** Two versions of Workron on one database: this one, and one after it with one more migration. */

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { aJob } from '../../contract/kit/builders.ts';
import { submitOne } from '../../contract/kit/steps.ts';
import { callWorkron } from '../kit/command-line.ts';
import { eventually } from '../kit/eventually.ts';
import { makeNextVersion } from '../kit/next-version.ts';
import { openTestPostgres } from '../kit/postgres.ts';
import { api, startWorkron, temporaryFolder } from '../kit/workron-process.ts';

const POSTGRES_ROLES = [
  ['scheduler', '--port', '0'],
  ['up', '--port', '0'],
  ['up', '--role', 'api', '--port', '0'],
  ['worker'],
  ['migrate'],
];
const SQLITE_ROLES = [['up', '--port', '0'], ['migrate']];

async function refuses(args: readonly string[], cwd: string): Promise<void> {
  const { code, stderr } = await callWorkron(args, { cwd });
  assert.equal(code, 6, `${args.join(' ')}: ${stderr}`);
  assert.match(stderr, /error: .* newer Workron \(it needs code \d+, this is code 1\); install that version here/);
  assert.doesNotMatch(stderr, /waiting for the database/);
}

test('versions: no role starts on a database whose min_code is above its own', { timeout: 120_000 }, async () => {
  await using folder = await temporaryFolder();
  await using place = await openTestPostgres();
  await place.query(`update "${place.schema}".meta set min_code = 7`);
  const db = ['--db-url', place.url, '--db-schema', place.schema];
  await Promise.all(POSTGRES_ROLES.map((role) => refuses([...role, ...db], folder.path)));
});

test('versions: after a migration that older code must not see, no role of the version before starts, on either database', {
  timeout: 120_000,
}, async () => {
  await using folder = await temporaryFolder();
  await using place = await openTestPostgres();
  const next = await makeNextVersion(folder.path, 2);
  const postgres = ['--db-url', place.url, '--db-schema', place.schema];
  const sqlite = ['--db-url', `sqlite:${join(folder.path, 'workron.db')}`];
  for (const db of [postgres, sqlite]) {
    for (const version of [{}, { command: next }]) {
      const { code, stderr } = await callWorkron(['migrate', ...db], { cwd: folder.path, ...version });
      assert.equal(code, 0, stderr);
    }
  }
  await Promise.all(POSTGRES_ROLES.map((role) => refuses([...role, ...postgres], folder.path)));
  // One after the other: a process holds the file while it looks at its version.
  for (const role of SQLITE_ROLES) await refuses([...role, ...sqlite], folder.path);
});

test('versions: after a migration that older code may see, both versions work on one database', {
  timeout: 120_000,
}, async () => {
  await using folder = await temporaryFolder();
  await using place = await openTestPostgres();
  const db = ['--db-url', place.url, '--db-schema', place.schema];
  await using before = await startWorkron({ args: ['worker', ...db], cwd: folder.path });
  const next = await makeNextVersion(folder.path, 1);
  await using scheduler = await startWorkron({ args: ['scheduler', '--port', '0', ...db], command: next });
  assert.deepEqual(await place.query(`select schema_version, min_code from "${place.schema}".meta`), [
    { schema_version: 2, min_code: 1 },
  ]);
  // A worker that was there before the migration, one that starts after it, and a store that submits.
  await ends(scheduler.url, (await api<{ id: string }>(scheduler.url, '/jobs', { command: 'true' })).id);
  before.signal('SIGTERM');
  assert.equal(await before.exited, 0);
  await using _after = await startWorkron({ args: ['worker', ...db], cwd: folder.path });
  await ends(scheduler.url, String((await submitOne(place.store, aJob({ command: 'true' }))).id));
});

async function ends(url: string, id: string): Promise<void> {
  const { status } = await eventually(async () => {
    const job = await api<{ status: string }>(url, `/jobs/${id}`);
    return ['done', 'failed'].includes(job.status) && job;
  });
  assert.equal(status, 'done');
}

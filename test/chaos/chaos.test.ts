/** The short form of `npm run chaos`, with large counts only. */

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { fullOnly } from '../full-only.ts';
import { endOnExit } from '../kit/end-on-exit.ts';
import { eventually } from '../kit/eventually.ts';
import { startTcpProxy } from '../kit/http-proxy.ts';
import { testPostgresUrl } from '../kit/postgres.ts';
import type { PostgresServer } from '../kit/postgres-server.ts';
import { Installation } from './installation.ts';

const root = join(import.meta.dirname, '..', '..');

for (const store of ['postgres', 'sqlite']) {
  test(`chaos: on ${store}, nothing is lost and no attempts overlap`, {
    skip: fullOnly('chaos: nothing is lost and no attempts overlap'),
  }, async () => {
    const args = ['test/chaos/run.ts', '--minutes', '2', '--store', store];
    const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
    endOnExit('process', child);
    const report = await text(child.stdout);
    assert.match(report, /acknowledged jobs: [1-9]\d*, lost: 0, unfinished: 0/, report);
    assert.match(report, /attempts: [1-9]\d*, overlapping: 0/, report);
    assert.match(report, /faults: [1-9]/, report);
    assert.match(report, /payments in [^\n]*: [1-9]\d*, doubled: 0/, report);
    assert.match(report, /looks at the tables: [1-9]\d*, waiting for nobody: 0, limits opened late: 0/, report);
    assert.match(report, /ticks: [1-9]\d*, without or with two verdicts: 0/, report);
  });
}

test('chaos: a lost connection of its own to PostgreSQL fails a statement and does not end the run', async () => {
  const url = new URL(await testPostgresUrl());
  await using proxy = await startTcpProxy(Number(url.port));
  url.port = String(proxy.port);
  await using installation = new Installation();
  installation.postgres = { url: url.href } as PostgresServer;
  const statement = `select pg_sleep(20) as "${proxy.port}"`;
  const asked = assert.rejects(installation.query(statement), /Connection terminated/);
  const seen = `select from pg_stat_activity where query = '${statement}'`;
  await eventually(async () => (await installation.query(seen)).length > 0);
  proxy.reset();
  await asked;
});

test('chaos: what it cannot do is refused, not run as something else', () => {
  for (const flags of [
    ['--store', 'sqllite'],
    ['--minutes', 'abc'],
    ['--minutes', '0'],
    ['--seed', 'x'],
    ['--only', 'typo'],
    ['--onyl', 'killed'],
  ]) {
    const { status, stderr } = spawnSync(process.execPath, ['test/chaos/run.ts', ...flags], {
      cwd: root,
      encoding: 'utf8',
      timeout: 30_000,
    });
    assert.equal(status, 2, `${flags.join(' ')}: ${stderr}`);
    assert.match(stderr, /^error: [^\n]*\n$/);
  }
});

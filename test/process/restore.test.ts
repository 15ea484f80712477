/** Backups that are made while Workron runs, and Workron started from them. */

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { aJob } from '../../contract/kit/builders.ts';
import { forever } from '../../contract/kit/steps.ts';
import { systemClock } from '../../src/ops/clock.ts';
import { silentLog } from '../../src/ops/log.ts';
import { openSqlite } from '../../src/store/sqlite/base/open.ts';
import { effort } from '../effort.ts';
import { fullOnly } from '../full-only.ts';
import { eventually } from '../kit/eventually.ts';
import { queriesTo, startPostgres } from '../kit/postgres.ts';
import { copyData } from '../kit/postgres-copy.ts';
import { PROGRAM } from '../kit/program.ts';
import { aFolder } from '../kit/sqlite.ts';
import { api, startWorkron, type WorkronProcess } from '../kit/workron-process.ts';

const TIMEOUT = { timeout: effort.waitMs };

interface Shown {
  id: string;
  status: string;
  attempts: number;
}

const up = (url: string) =>
  startWorkron({ args: ['up', '--port', '0', '--db-url', url, '--lease', '5s', '--heartbeat', '1s'] });
const show = (node: WorkronProcess, { id }: { id: string }) => api<Shown>(node.url, `/jobs/${id}`);
const submit = (node: WorkronProcess, job: object) => api<Shown>(node.url, '/jobs', job);
const wait = (node: WorkronProcess, { id }: { id: string }) => api<Shown>(node.url, `/jobs/${id}/wait?timeout=60s`);

/** Jobs in three states. The running one ends once `folder` has the file `go`. */
async function submitSome(node: WorkronProcess, folder: string) {
  const done = await submit(node, { command: 'true' });
  assert.equal((await wait(node, done)).status, 'done');
  const running = await submit(node, { command: `while [ ! -e ${folder}/go ]; do sleep 0.1; done` });
  await eventually(async () => (await show(node, running)).status === 'running');
  const later = await submit(node, { command: 'true', delay: '1h' });
  return { done, running, later };
}

/** Started from a backup, it knows what was known then, and runs what ran then once more. */
async function assertRestored(
  node: WorkronProcess,
  folder: string,
  { done, running, later }: Awaited<ReturnType<typeof submitSome>>,
): Promise<void> {
  await writeFile(join(folder, 'go'), '');
  assert.deepEqual([(await show(node, done)).status, (await show(node, later)).status], ['done', 'scheduled']);
  const again = await wait(node, running);
  assert.deepEqual([again.status, again.attempts], ['done', 2]);
  assert.equal((await wait(node, await submit(node, { command: 'true' }))).status, 'done');
}

test(
  'backup: a copy of a SQLite file that is in use is started after the first server was killed',
  TIMEOUT,
  async () => {
    await using folder = await aFolder();
    const [file, copy] = [join(folder.path, 'w.db'), join(folder.path, 'copy.db')];
    await using first = await up(file);
    const jobs = await submitSome(first, folder.path);
    assert.equal(spawnSync(PROGRAM, ['backup', copy, '--db-url', file]).status, 0);
    const after = await submit(first, { command: 'true' });
    first.signal('SIGKILL');
    await first.exited;
    await using second = await up(copy);
    await assert.rejects(show(second, after), /404/);
    await assertRestored(second, folder.path, jobs);
  },
);

test('backup: one that is killed leaves no copy, and does not disturb the next', TIMEOUT, async () => {
  await using folder = await aFolder();
  const [file, copy] = [join(folder.path, 'w.db'), join(folder.path, 'copy.db')];
  await using store = await openSqlite({ file, clock: systemClock, log: silentLog });
  const command = 'x'.repeat(10_000);
  for (let round = 0; round < 20; round += 1) {
    await store.insert(
      Array.from({ length: 200 }, () => aJob({ command })),
      {},
      forever,
    );
  }
  const killed = spawn(PROGRAM, ['backup', copy, '--db-url', file], { stdio: 'ignore' });
  const ended = once(killed, 'exit');
  await eventually(() => existsSync(`${copy}.partial`) || killed.exitCode !== null);
  killed.kill('SIGKILL');
  const [code] = (await ended) as [number | null];
  assert.equal(existsSync(copy), code === 0);
  const whole = join(folder.path, 'whole.db');
  assert.equal(spawnSync(PROGRAM, ['backup', whole, '--db-url', file]).status, 0);
  await using opened = await openSqlite({ file: whole, clock: systemClock, log: silentLog });
  assert.equal(await opened.count({}, 10_000, forever), 4_000);
});

test('restore: a PostgreSQL goes back to a point in time by a base backup and its archive', {
  ...TIMEOUT,
  skip: fullOnly('restore: by a base backup and its archive'),
}, async () => {
  await using folder = await aFolder();
  const archive = '../archive';
  await using primary = await startPostgres({
    durable: true,
    settings: ['wal_level=replica', 'archive_mode=on', `archive_command=mkdir -p ${archive} && cp %p ${archive}/%f`],
  });
  const query = queriesTo(primary.url);
  await using first = await up(primary.url);
  const base = join(folder.path, 'base');
  await copyData(primary, base, 'recover');
  const jobs = await submitSome(first, folder.path);
  await query(`select pg_create_restore_point('before')`);
  const after = await submit(first, { command: 'true' });
  assert.equal((await wait(first, after)).status, 'done');
  first.signal('SIGKILL');
  await first.exited;
  const [last] = await query<{ name: string }>('select pg_walfile_name(pg_switch_wal()) as name');
  await eventually(async () => {
    const [row] = await query<{ name: string }>('select last_archived_wal as name from pg_stat_archiver');
    return (row?.name ?? '') >= (last?.name ?? '');
  });
  await primary.halt('fast');
  await using recovered = await startPostgres({
    durable: true,
    settings: [
      `restore_command=cp ${join(dirname(primary.data), 'archive')}/%f %p`,
      'recovery_target_name=before',
      'recovery_target_action=promote',
    ],
    makeData: async (data) => void spawnSync('cp', ['-a', base, data]),
  });
  const there = queriesTo(recovered.url);
  await eventually(async () => {
    const [row] = await there<{ recovers: boolean }>('select pg_is_in_recovery() as recovers');
    return row?.recovers === false;
  });
  await using second = await up(recovered.url);
  await assert.rejects(show(second, after), /404/);
  await assertRestored(second, folder.path, jobs);
});

/** A PostgreSQL of this machine with the programs that the npm package lacks. */
const complete = globSync('/usr/lib/postgresql/*/bin').find(
  (bin) => existsSync(join(bin, 'pg_dump')) && existsSync(join(bin, 'initdb')),
);

test('restore: by pg_dump and pg_restore', { ...TIMEOUT, skip: complete === undefined }, async () => {
  const bin = complete ?? assert.fail();
  await using folder = await aFolder();
  await using server = await startPostgres({ durable: true, bin });
  await using first = await up(server.url);
  const jobs = await submitSome(first, folder.path);
  const dump = join(folder.path, 'dump');
  const run = (program: string, ...args: string[]) => {
    const { status, stderr } = spawnSync(join(bin, program), args, { encoding: 'utf8' });
    assert.equal(status, 0, stderr);
  };
  run('pg_dump', '--format=custom', '--schema=workron', '--file', dump, server.url);
  const after = await submit(first, { command: 'true' });
  first.signal('SIGKILL');
  await first.exited;
  await queriesTo(server.url)('drop schema workron cascade');
  run('pg_restore', '--dbname', server.url, dump);
  await using second = await up(server.url);
  await assert.rejects(show(second, after), /404/);
  await assertRestored(second, folder.path, jobs);
});

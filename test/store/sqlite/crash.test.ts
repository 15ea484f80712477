import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { forever, ids } from '../../../contract/kit/steps.ts';
import { systemClock } from '../../../src/ops/clock.ts';
import { silentLog } from '../../../src/ops/log.ts';
import { openSqlite } from '../../../src/store/sqlite/base/open.ts';
import { Child } from '../../kit/child.ts';
import { aFolder } from '../../kit/sqlite.ts';

test('sqlite: kill -9 under load loses nothing that was acknowledged', async () => {
  await using folder = await aFolder();
  const file = join(folder.path, 'workron.db');
  const heard: string[] = [];
  // Twice, so that the second life begins with what the first left behind.
  for (const enough of [300, 600]) {
    await using child = Child.script(new URL('../../kit/sqlite-writer.ts', import.meta.url), file);
    while (heard.length < enough) heard.push((await child.line()) ?? assert.fail('the writer ended'));
    heard.push(...(await child.kill()));
  }

  await using store = await openSqlite({ file, clock: systemClock, log: silentLog });
  const stored = acknowledged(heard, 'stored');
  assert.ok(stored.length > 100);
  assert.deepEqual(ids(await store.read(stored, forever)), stored);
  const done = acknowledged(heard, 'ok');
  assert.ok(done.length > 20);
  const statuses = (await store.read(done, forever)).map(({ status }) => status);
  assert.deepEqual(statuses, Array(done.length).fill('done'));
});

function acknowledged(heard: readonly string[], what: string): number[] {
  return heard.map((line) => line.split(' ')).flatMap(([word, id]) => (word === what ? [Number(id)] : []));
}

const FILLER = new URL('../../kit/sqlite-filler.ts', import.meta.url).pathname;

const canMount = spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).status === 0;

test('sqlite: a full disk is told as such, costs nothing acknowledged, and passes', {
  skip: !canMount && 'needs leave to mount a small disk',
}, async () => {
  await using folder = await aFolder();
  const mount = 'mount -t tmpfs -o size=6m tmpfs "$1" && head -c 2000000 /dev/zero > "$1/ballast"';
  const run = 'exec "$2" "$3" "$1/workron.db" "$1/ballast"';
  const report = await fill('unshare', [
    '-rm',
    'sh',
    '-c',
    `${mount} && ${run}`,
    'sh',
    folder.path,
    process.execPath,
    FILLER,
  ]);
  assert.equal(report.failure, 'store_full');
  assert.equal(report.goesOn, true);
  assert.match(report.ready[0]?.problems.join() ?? '', /^the disk of the store is full$/);
  assert.deepEqual(report.ready[1], { ready: true, problems: [] });
});

test('sqlite: a file that cannot be written any more is unavailable, and costs nothing acknowledged', async () => {
  await using folder = await aFolder();
  const limited = 'ulimit -f 6000; exec "$1" "$2" "$3"';
  const file = join(folder.path, 'workron.db');
  const report = await fill('sh', ['-c', limited, 'sh', process.execPath, FILLER, file]);
  assert.equal(report.failure, 'store_unavailable');
  // `/ready` is for everybody, and names no file.
  assert.deepEqual(report.ready[0]?.problems, ['the store does not answer']);
});

interface Report {
  failure: string;
  stored: number;
  there: number;
  listed: number;
  goesOn: boolean;
  ready: { ready: boolean; problems: string[] }[];
}

async function fill(command: string, args: readonly string[]): Promise<Report> {
  await using child = new Child(command, args);
  const line = await child.line();
  assert.ok(line, 'the filler told nothing');
  const report = JSON.parse(line) as Report;
  assert.ok(report.stored > 20, `only ${report.stored} jobs fitted`);
  assert.equal(report.there, report.stored);
  assert.equal(report.listed, report.stored);
  return report;
}

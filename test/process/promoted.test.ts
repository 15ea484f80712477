/** A SQLite file that was promoted: nothing starts on it by accident, also after a kill -9 of `promote`. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import pg from 'pg';
import { aJob } from '../../contract/kit/builders.ts';
import { forever } from '../../contract/kit/steps.ts';
import { open } from '../../src/index.ts';
import { systemClock } from '../../src/ops/clock.ts';
import { silentLog } from '../../src/ops/log.ts';
import { openPostgres } from '../../src/store/postgres/base/open.ts';
import { openSqlite } from '../../src/store/sqlite/base/open.ts';
import { endOnExit } from '../kit/end-on-exit.ts';
import { eventually } from '../kit/eventually.ts';
import { openTestPostgres, queriesTo, testPostgresUrl, testSchema } from '../kit/postgres.ts';
import { PROGRAM } from '../kit/program.ts';
import { aFolder } from '../kit/sqlite.ts';
import { api, startWorkron } from '../kit/workron-process.ts';

const PROMOTED = /was promoted to postgres.*and its jobs would run twice.*workron doctor --unmark --db-url sqlite:/;

async function aFile(folder: string, jobs = 3): Promise<string> {
  const file = join(folder, 'workron.db');
  await using store = await openSqlite({ file, clock: systemClock, log: silentLog });
  await store.insert(
    Array.from({ length: jobs }, () => aJob({ command: 'true' })),
    {},
    forever,
  );
  return file;
}

async function workron(...args: string[]): Promise<{ code: number | null; output: string }> {
  const env = { ...process.env, WORKRON_INSECURE_NO_TOKEN: 'on' };
  const child = spawn(PROGRAM, args, { stdio: ['ignore', 'pipe', 'pipe'], env });
  endOnExit('process', child);
  const [out, error, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit') as Promise<[number | null]>,
  ]);
  return { code, output: out + error };
}

async function assertRefused(file: string): Promise<void> {
  for (const command of ['up', 'scheduler']) {
    const { code, output } = await workron(command, '--db-url', `sqlite:${file}`, '--port', '0');
    assert.deepEqual([code, PROMOTED.test(output)], [6, true], output);
  }
  await assert.rejects(open(`sqlite:${file}`), PROMOTED);
}

async function countAt(url: string, schema: string): Promise<number> {
  await using target = await openTestPostgres({ url, schema });
  return await target.store.count({}, 100, forever);
}

test('promote: the file refuses to start, is exported and backed up, and starts again once it is unmarked', {
  timeout: 120_000,
}, async () => {
  await using folder = await aFolder();
  const file = await aFile(folder.path);
  const [url, schema, again] = [await testPostgresUrl(), testSchema(), testSchema()];
  const moveTo = (name: string) => workron('promote', `sqlite:${file}`, url, '--db-schema', name);
  const store = ['--db-url', `sqlite:${file}`];

  assert.equal((await workron('doctor', '--unmark', ...store)).code, 5, 'it has no mark');
  const moved = await moveTo(schema);
  assert.equal(moved.code, 0, moved.output);
  await assertRefused(file);
  const checked = await workron('doctor', ...store);
  assert.match(checked.output, /bad\s+promoted\s.*was promoted to/);
  assert.ok(!checked.output.includes(new URL(url).password || 'no-password'));

  const copy = join(folder.path, 'copy.db');
  assert.equal((await workron('backup', copy, ...store)).code, 0);
  await assertRefused(copy);
  const lines = join(folder.path, 'all.jsonl');
  const restored = join(folder.path, 'restored.db');
  assert.equal((await workron('export', lines, ...store)).code, 0);
  assert.equal((await workron('restore', lines, '--db-url', `sqlite:${restored}`)).code, 0);
  await using _restored = await startWorkron({ args: ['up', '--port', '0', '--db-url', `sqlite:${restored}`] });

  // The target is gone: the way back, and the same way again.
  await queriesTo(url)(`drop schema "${schema}" cascade`);
  for (const name of [schema, again]) {
    const { code, output } = await moveTo(name);
    assert.deepEqual([code, PROMOTED.test(output)], [6, true], output);
  }
  const freed = await workron('doctor', '--unmark', ...store);
  assert.deepEqual([freed.code, /can be started again/.test(freed.output)], [0, true], freed.output);
  {
    await using up = await startWorkron({ args: ['scheduler', '--port', '0', ...store] });
    assert.equal((await api<{ items: unknown[] }>(up.url, '/jobs')).items.length, 3);
    up.signal('SIGTERM');
    assert.equal(await up.exited, 0);
  }
  const repeated = await moveTo(again);
  assert.equal(repeated.code, 0, repeated.output);
  await assertRefused(file);
  assert.equal(await countAt(url, again), 3);
});

/** Runs `promote` until it has marked the file, and kills it there. `hold` keeps it from opening the target. */
async function killAtMark(file: string, url: string, schema: string): Promise<void> {
  const args = ['promote', `sqlite:${file}`, url, '--db-schema', schema];
  const first = spawn(PROGRAM, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  endOnExit('process', first);
  const firstEnded = once(first, 'exit');
  // With its first line the promotion is begun.
  await once(first.stdout, 'data');
  first.kill('SIGKILL');
  await firstEnded;
  const holder = new pg.Client({ connectionString: url });
  await holder.connect();
  try {
    await holder.query('begin');
    await holder.query(`select 1 from "${schema}".meta for update`);
    const second = spawn(PROGRAM, args, { stdio: 'ignore' });
    endOnExit('process', second);
    const ended = once(second, 'exit') as Promise<[number | null, string | null]>;
    await eventually(async () => {
      const waiting = await queriesTo(url)(
        `select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like $1`,
        [`update "${schema}".meta%`],
      );
      return waiting.length > 0;
    });
    second.kill('SIGKILL');
    assert.deepEqual(await ended, [null, 'SIGKILL']);
  } finally {
    await holder.end();
  }
}

test('promote: killed after it has marked the file, neither side starts, and the next run goes on or is undone', {
  timeout: 120_000,
}, async () => {
  await using folder = await aFolder();
  const file = await aFile(folder.path);
  const [url, schema] = [await testPostgresUrl(), testSchema()];
  const neither = async () => {
    await assertRefused(file);
    await assert.rejects(openPostgres({ url, schema, log: silentLog }), /migrated by a newer Workron/);
  };
  await killAtMark(file, url, schema);
  await neither();
  const undone = await workron('promote', `sqlite:${file}`, url, '--db-schema', schema, '--undo');
  assert.equal(undone.code, 0, undone.output);
  {
    await using store = await openSqlite({ file, clock: systemClock, log: silentLog });
    assert.equal(await store.count({}, 100, forever), 3);
  }
  await killAtMark(file, url, schema);
  await neither();
  const other = await workron('promote', `sqlite:${file}`, url, '--db-schema', testSchema());
  assert.deepEqual([other.code, PROMOTED.test(other.output)], [6, true], other.output);
  const ended = await workron('promote', `sqlite:${file}`, url, '--db-schema', schema);
  assert.equal(ended.code, 0, ended.output);
  await assertRefused(file);
  assert.equal(await countAt(url, schema), 3);
});

/** An installation that moves from a SQLite file to PostgreSQL. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { aJob } from '../../contract/kit/builders.ts';
import { claimOne, findLost, forever, register, succeed } from '../../contract/kit/steps.ts';
import { promote, rehearse, undo } from '../../src/node/promote/promote.ts';
import { unmark } from '../../src/node/promote/unmark.ts';
import { silentLog } from '../../src/ops/log.ts';
import { openPostgres } from '../../src/store/postgres/base/open.ts';
import { openSqlite } from '../../src/store/sqlite/base/open.ts';
import type { Store } from '../../src/store/store.ts';
import { eventually } from '../kit/eventually.ts';
import { assertAnswersAgain, everything, fill } from '../kit/installation-content.ts';
import { openTestPostgres, queriesTo, testPostgresUrl, testSchema } from '../kit/postgres.ts';
import { PROGRAM } from '../kit/program.ts';
import { aFolder } from '../kit/sqlite.ts';
import { api, startWorkron } from '../kit/workron-process.ts';

const clock = (offsetMs = 0) => ({ now: () => Date.now() + offsetMs, sleep: () => Promise.resolve() });

async function aFile(folder: string, content: (store: Store) => Promise<void>): Promise<string> {
  const file = join(folder, 'workron.db');
  await using store = await openSqlite({ file, clock: clock() as never, log: silentLog });
  await content(store);
  return file;
}

/** Everything in the file but the mark. */
function contentOf(file: string): string {
  using database = new DatabaseSync(file, { readOnly: true });
  const read = (name: string) => JSON.stringify(database.prepare(`select * from "${name}"`).all());
  const tables = database.prepare(`select name, sql from sqlite_schema where type = 'table' order by name`).all();
  return tables
    .map(({ name, sql }) => `${String(sql)}: ${read(String(name))}`)
    .join('\n')
    .replace(/"promoted_to":[^,]*,"promoted_as":[^,]*,/, '');
}

test('promote: everything is there, times by the other clock, ids go on, and the file is as it was but for a mark', async () => {
  await using folder = await aFolder();
  const file = await aFile(folder.path, fill);
  const [before, url, schema] = [contentOf(file), await testPostgresUrl(), testSchema()];
  const query = queriesTo(url);
  const lines: string[] = [];
  const options = { file, url, schema, tell: (line: string) => void lines.push(line) };
  await rehearse(options);
  assert.deepEqual(await query('select 1 from pg_namespace where nspname = $1', [schema]), [], 'nothing is written');
  assert.ok(lines.includes('job: 32 rows'), lines.join('\n'));
  assert.ok(!lines.some((line) => line.endsWith(': 0 rows')), lines.join('\n'));
  await promote(options);
  assert.ok(lines.includes('meta: 1 row'), lines.join('\n'));
  assert.ok(!lines.some((line) => line.endsWith(' 1 rows')), lines.join('\n'));
  await assert.rejects(openSqlite({ file, clock: clock() as never, log: silentLog }), /was promoted to/);
  assert.equal(contentOf(file), before);
  unmark(file);
  const differenceMs = Number(
    /is (-?\d+) ms ahead/.exec(lines.findLast((line) => line.startsWith('clocks')) ?? '')?.[1],
  );
  await using target = await openTestPostgres({ url, schema });
  await using source = await openSqlite({ file, clock: clock() as never, log: silentLog });
  const shift = (value: unknown): unknown =>
    JSON.parse(JSON.stringify(value), (key, item: unknown) =>
      typeof item === 'number' && (key === 'at' || key.endsWith('At')) ? item + differenceMs : item,
    );
  const [ours, theirs] = [await everything(source), await everything(target.store)];
  assert.deepEqual(JSON.parse(JSON.stringify(theirs)), shift(ours));
  const [next] = await target.store.insert([aJob()], {}, forever).then(({ items }) => items);
  assert.equal(next?.job.id, Math.max(...ours.jobs.map(({ id }) => id)) + 1);
  await assertAnswersAgain(target.store);
  await using fresh = await openTestPostgres({ url });
  const indexesOf = async (name: string) => {
    const rows = await query<{ definition: string }>(
      'select indexdef as definition from pg_indexes where schemaname = $1 order by indexname',
      [name],
    );
    return rows.map(({ definition }) => definition.replaceAll(name, 'workron'));
  };
  assert.deepEqual(await indexesOf(schema), await indexesOf(fresh.schema));
});

test('promote: a job that ran before is settled after by the same worker, and found if that worker dies', async () => {
  await using folder = await aFolder();
  let lease: Awaited<ReturnType<typeof claimOne>> | undefined;
  const file = await aFile(folder.path, async (store) => {
    lease = await claimOne(store, aJob());
    await claimOne(store, aJob());
  });
  const [url, schema] = [await testPostgresUrl(), testSchema()];
  await promote({ file, url, schema, tell: () => undefined });
  await using target = await openTestPostgres({ url, schema });
  assert.equal((await succeed(target.store, lease ?? assert.fail())).result, 'ok');
  await target.advance(60_000);
  const lost = await findLost(target.store);
  assert.equal(lost.length, 1);
});

test('promote: refused while the file is in use, on a schema that is in use, and on the wrong kinds of store', async () => {
  await using folder = await aFolder();
  const file = await aFile(folder.path, fill);
  const [url, schema] = [await testPostgresUrl(), testSchema()];
  const options = { file, url, schema, tell: () => undefined };
  {
    await using _store = await openSqlite({ file, clock: clock() as never, log: silentLog });
    await assert.rejects(promote(options), /in use by another Workron process/);
  }
  await using used = await openTestPostgres({ url, schema });
  await register(used.store);
  await assert.rejects(promote(options), /is not empty/);
  await assert.rejects(rehearse(options), /is not empty/);
  await assert.rejects(undo(options), /no promotion that was begun/);
});

test('promote: killed at ten places it goes on where it stopped; half of it can be started by nobody, and can be undone', {
  timeout: 120_000,
}, async () => {
  await using folder = await aFolder();
  const file = await aFile(folder.path, fill);
  const [url, schema] = [await testPostgresUrl(), testSchema()];
  const run = async (lines: number, ...flags: string[]) => {
    const args = ['promote', `sqlite:${file}`, url, '--db-schema', schema, ...flags];
    const child = spawn(PROGRAM, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = once(child, 'exit');
    let seen = 0;
    for await (const _ of createInterface(child.stdout)) {
      seen += 1;
      if (seen === lines) child.kill('SIGKILL');
    }
    const [code] = (await ended) as [number | null];
    return code;
  };
  for (let place = 1; place <= 10; place += 1) {
    await run(place * 3);
    await (await openSqlite({ file, clock: clock() as never, log: silentLog }))[Symbol.asyncDispose]();
    await assert.rejects(openPostgres({ url, schema, log: silentLog }), /migrated by a newer Workron/);
    if (place === 5) assert.equal(await run(Infinity, '--undo'), 0);
  }
  assert.equal(await run(Infinity), 0);
  await using target = await openTestPostgres({ url, schema });
  unmark(file);
  await using source = await openSqlite({ file, clock: clock() as never, log: silentLog });
  assert.equal(await target.store.count({}, 100, forever), await source.count({}, 100, forever));
});

test('promote: a worker over HTTP that ran all the while reports as if nothing had happened', {
  timeout: 120_000,
}, async () => {
  await using folder = await aFolder();
  const [file, url, schema] = [join(folder.path, 'w.db'), await testPostgresUrl(), testSchema()];
  const start = (port: string, ...store: string[]) =>
    startWorkron({ args: ['scheduler', '--port', port, ...store, '--lease', '60s', '--heartbeat', '1s'] });
  await using first = await start('0', '--db-url', file);
  const { port } = new URL(first.url);
  await using _worker = await startWorkron({ args: ['worker', '--scheduler', first.url, '--workers', '1'] });
  const { id } = await api<{ id: string }>(first.url, '/jobs', {
    command: `touch ${folder.path}/begun; while [ ! -e ${folder.path}/go ]; do sleep 0.1; done; echo rows=7 > $WORKRON_OUTPUT`,
  });
  await eventually(async () => (await api<{ status: string }>(first.url, `/jobs/${id}`)).status === 'running');
  first.signal('SIGTERM');
  await first.exited;
  await promote({ file, url, schema, tell: () => undefined });
  await using second = await start(port, '--db-url', url, '--db-schema', schema);
  const { writeFile } = await import('node:fs/promises');
  await writeFile(join(folder.path, 'go'), '');
  const done = await eventually(async () => {
    const job = await api<{ status: string; attempts: number; result: unknown }>(second.url, `/jobs/${id}`);
    return job.status === 'done' && job;
  });
  assert.deepEqual([done.attempts, done.result], [1, { rows: '7' }]);
  await queriesTo(url)(`select 1`);
});

/** An installation as JSON lines, out of each store and into each store. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { aJob } from '../../contract/kit/builders.ts';
import { makeSchedule } from '../../contract/kit/schedules.ts';
import { claim, claimOne, forever, loseLeases, register, submitOne, succeed } from '../../contract/kit/steps.ts';
import { type ExportOptions, exportToFile } from '../../src/node/export/export.ts';
import { restore } from '../../src/node/export/restore.ts';
import { systemClock } from '../../src/ops/clock.ts';
import { silentLog } from '../../src/ops/log.ts';
import { openPostgres } from '../../src/store/postgres/base/open.ts';
import { openSqlite } from '../../src/store/sqlite/base/open.ts';
import type { Store } from '../../src/store/store.ts';
import { eventually } from '../kit/eventually.ts';
import { assertAnswersAgain, everything, fill } from '../kit/installation-content.ts';
import { makeNextVersion } from '../kit/next-version.ts';
import { openTestPostgres, queriesTo, testPostgresUrl, testSchema } from '../kit/postgres.ts';
import { PROGRAM } from '../kit/program.ts';
import { aFolder } from '../kit/sqlite.ts';

const tell = () => undefined;

type Driver = 'sqlite' | 'postgres';
type Place = Pick<ExportOptions, 'store' | 'schema'>;

async function aPlace(driver: Driver, folder: string, name: string): Promise<Place> {
  const schema = testSchema();
  if (driver === 'postgres') return { store: { driver, url: await testPostgresUrl() }, schema };
  return { store: { driver, file: join(folder, `${name}.db`) }, schema };
}

async function open({ store, schema }: Place): Promise<Store> {
  if (store.driver === 'sqlite') return await openSqlite({ file: store.file, clock: systemClock, log: silentLog });
  return (await openTestPostgres({ url: store.url, schema })).store;
}

async function contentOf(place: Place) {
  await using store = await open(place);
  return JSON.parse(JSON.stringify(await everything(store))) as Awaited<ReturnType<typeof everything>>;
}

/** The bytes of a file in pieces that cut lines and characters. */
async function* inPieces(file: string | Buffer, size = 777): AsyncGenerator<Buffer> {
  const bytes = typeof file === 'string' ? await readFile(file) : file;
  for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size);
}

for (const from of ['sqlite', 'postgres'] as const) {
  for (const to of ['sqlite', 'postgres'] as const) {
    test(`export: all of ${from} is restored in ${to}, and its jobs go on`, { timeout: 120_000 }, async () => {
      await using folder = await aFolder();
      const [source, target] = [await aPlace(from, folder.path, 'from'), await aPlace(to, folder.path, 'to')];
      let lease: Awaited<ReturnType<typeof claimOne>> | undefined;
      let deleted = 0;
      {
        await using store = await open(source);
        await fill(store);
        lease = await claimOne(store, aJob({ queue: 'goes-on' }));
        deleted = (await makeSchedule(store, { name: 'deleted' })).id;
        await store.deleteSchedule('deleted', forever);
      }
      const file = join(folder.path, 'all.jsonl');
      const lines: string[] = [];
      const keep = (line: string): void => void lines.push(line);
      const exported = await exportToFile(file, { ...source, tell: keep });
      assert.equal(statSync(file).mode & 0o777, 0o600);
      assert.equal(await restore({ ...target, input: inPieces(file), tell: keep }), exported);
      assert.ok(!lines.some((line) => line.endsWith(' 1 rows')), lines.join('\n'));
      const [ours, theirs] = [await contentOf(source), await contentOf(target)];
      assert.deepEqual(theirs, ours);

      await using store = await open(target);
      await assertAnswersAgain(store);
      const next = await submitOne(store, aJob());
      assert.equal(next.id, Math.max(...ours.jobs.map(({ id }) => id)) + 1);
      assert.equal((await makeSchedule(store, { name: 'next' })).id, deleted + 1);
      assert.equal((await succeed(store, lease)).result, 'ok', 'a lease goes on');
      const claimed = await claimOne(store, aJob({ queue: 'new' }));
      assert.equal((await succeed(store, claimed)).result, 'ok');
    });
  }
}

test('export: a job that ran is found in the copy, and given to another worker', async () => {
  await using folder = await aFolder();
  const source = await aPlace('postgres', folder.path, 'from');
  const target = await aPlace('postgres', folder.path, 'to');
  {
    await using store = await open(source);
    await claimOne(store, aJob());
  }
  const file = join(folder.path, 'all.jsonl');
  await exportToFile(file, { ...source, tell });
  await restore({ ...target, input: inPieces(file), tell });
  await using opened = await openTestPostgres({ url: await testPostgresUrl(), schema: target.schema });
  assert.equal((await loseLeases(opened.store, (ms) => opened.advance(ms))).length, 1);
});

test('export: of a store in use is one state of it, and takes no lock', async () => {
  await using folder = await aFolder();
  const source = await aPlace('sqlite', folder.path, 'from');
  await using store = await open(source);
  const writing = new AbortController();
  const written = (async () => {
    while (!writing.signal.aborted) await store.insert([aJob(), aJob(), aJob()], {}, forever);
  })();
  await eventually(async () => (await store.count({}, 100, forever)) > 10);
  const file = join(folder.path, 'all.jsonl');
  await exportToFile(file, { ...source, tell });
  writing.abort();
  await written;
  const target = await aPlace('sqlite', folder.path, 'to');
  await restore({ ...target, input: inPieces(file), tell });
  await using copy = await open(target);
  const count = await copy.count({}, 1_000_000, forever);
  assert.equal(count % 3, 0, `${count} jobs`);
  assert.equal((await copy.list({ statuses: ['pending'] }, { before: null, limit: 1_000_000 }, forever)).length, count);
});

test('restore: a target in use is refused, and stays as it is', async () => {
  await using folder = await aFolder();
  const source = await aPlace('sqlite', folder.path, 'from');
  const used = await aPlace('postgres', folder.path, 'to');
  {
    await using store = await open(source);
    await fill(store);
    await using other = await open(used);
    await submitOne(other, aJob());
  }
  const file = join(folder.path, 'all.jsonl');
  await exportToFile(file, { ...source, tell });
  await assert.rejects(exportToFile(file, { ...source, tell }), /exists already/);
  await assert.rejects(restore({ ...source, input: inPieces(file), tell }), /exists already/);
  await assert.rejects(restore({ ...used, input: inPieces(file), tell }), /is not empty/);
  await using other = await open(used);
  assert.equal(await other.count({}, 10, forever), 1);
});

/** What is damaged, and what the message says of it. */
const DAMAGES: readonly (readonly [string, (lines: string[]) => readonly string[], RegExp])[] = [
  ['nothing', () => [], /cut off/],
  ['another file', () => ['SQLite format 3\0'], /line 1: not an export of Workron/],
  ['another JSON', () => ['{"format":"x"}'], /line 1: not an export/],
  ['null', () => ['null'], /line 1: not an export/],
  [
    'a newer schema',
    ([head = '', ...rest]) => [head.replace(/"schema_version":\d+/, '"schema_version":99'), ...rest],
    /newer Workron/,
  ],
  [
    'no installation',
    ([head = '', ...rest]) => [head.replace(/"installation":\d+/, '"installation":"x"'), ...rest],
    /header is damaged/,
  ],
  ['the last line is missing', (lines) => lines.slice(0, -1), /cut off/],
  [
    'a row is missing',
    (lines) => lines.toSpliced(lines.findIndex((line) => line.includes('"table":"job"')) + 2, 1),
    /job is damaged: 31 rows/,
  ],
  [
    'a row twice',
    (lines) => lines.flatMap((line) => (line.startsWith('[1,"default"') ? [line, line] : [line])),
    /UNIQUE constraint/,
  ],
  [
    'a value is changed',
    (lines) => lines.map((line) => line.replace('line\\\\nline', 'line\\\\nlime')),
    /job is damaged: 32 rows/,
  ],
  [
    'a value of another type',
    (lines) => lines.map((line) => line.replace('[1,"default"', '["x","default"')),
    /line \d+: datatype mismatch/,
  ],
  [
    'a value too many',
    (lines) => lines.map((line) => line.replace('[1,"default"', '[1,1,"default"')),
    /not a row of job/,
  ],
  [
    'an object as a value',
    (lines) => lines.map((line) => line.replace('[1,"default"', '[{},"default"')),
    /not a row of job/,
  ],
  [
    'a table of another program',
    (lines) => lines.map((line) => line.replace('"table":"job"', '"table":"x"')),
    /no table x/,
  ],
  ['meta as a table', (lines) => lines.map((line) => line.replace('"table":"job"', '"table":"meta"')), /no table meta/],
  [
    'another column',
    (lines) => lines.map((line) => line.replace('"priority"', '"x"')),
    /expected the columns id, queue/,
  ],
  ['something at the end', (lines) => [...lines, '{}'], /follows the end/],
  ['a cut line', (lines) => [...lines.slice(0, 2), '[1,'], /line 3/],
];

test('restore: a damaged export is refused with the line, and leaves nothing', async () => {
  await using folder = await aFolder();
  const source = await aPlace('sqlite', folder.path, 'from');
  {
    await using store = await open(source);
    await fill(store);
  }
  const file = join(folder.path, 'all.jsonl');
  await exportToFile(file, { ...source, tell });
  const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
  const target = await aPlace('sqlite', folder.path, 'to');
  for (const [name, damage, message] of DAMAGES) {
    const damaged = Buffer.from(
      damage([...lines])
        .map((line) => `${line}\n`)
        .join(''),
    );
    await assert.rejects(restore({ ...target, input: inPieces(damaged), tell }), message, name);
    const left = readdirSync(folder.path).filter((entry) => entry.startsWith('to.db'));
    assert.deepEqual(left, ['to.db-owner'], name);
  }
  const schema = testSchema();
  const postgres = { store: { driver: 'postgres' as const, url: await testPostgresUrl() }, schema };
  await assert.rejects(restore({ ...postgres, input: inPieces(Buffer.from('x')), tell }), /not an export/);
  const found = await queriesTo(await testPostgresUrl())('select 1 from pg_namespace where nspname = $1', [schema]);
  assert.deepEqual(found, []);
});

test('restore: killed in the middle, it leaves no store that starts, and can be run again', {
  timeout: 120_000,
}, async () => {
  await using folder = await aFolder();
  const source = await aPlace('sqlite', folder.path, 'from');
  {
    await using store = await open(source);
    await fill(store);
  }
  const file = join(folder.path, 'all.jsonl');
  await exportToFile(file, { ...source, tell });
  const [url, schema, copy] = [await testPostgresUrl(), testSchema(), join(folder.path, 'to.db')];
  /** Ends it after some lines of its output. */
  const run = async (target: string, lines: number) => {
    const child = spawn(PROGRAM, ['restore', file, '--db-url', target, '--db-schema', schema], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, TMPDIR: folder.path },
    });
    const ended = once(child, 'exit');
    let seen = '';
    for await (const chunk of child.stdout) {
      seen += String(chunk);
      if (seen.split('\n').length > lines) child.kill('SIGKILL');
    }
    const [code] = (await ended) as [number | null];
    return code;
  };
  assert.equal(await run(copy, 5), null);
  assert.equal(existsSync(copy), false);
  assert.equal(await run(copy, Infinity), 0);
  for (const place of [5, 25, 50]) {
    await run(url, place);
    if (place === 50)
      await assert.rejects(openPostgres({ url, schema, log: silentLog }), /migrated by a newer Workron/);
  }
  assert.equal(await run(url, Infinity), 0);
  const [ours, ...theirs] = await Promise.all([
    contentOf(source),
    contentOf({ store: { driver: 'sqlite', file: copy }, schema }),
    contentOf({ store: { driver: 'postgres', url }, schema }),
  ]);
  for (const each of theirs) assert.deepEqual(each, ours);
});

test('restore: the next version takes an export of this one and migrates it; this one refuses its export', {
  timeout: 120_000,
}, async () => {
  await using folder = await aFolder();
  const next = await makeNextVersion(folder.path, 2);
  const source = await aPlace('sqlite', folder.path, 'from');
  {
    await using store = await open(source);
    await fill(store);
  }
  const [old, newer] = [join(folder.path, 'old.jsonl'), join(folder.path, 'newer.jsonl')];
  await exportToFile(old, { ...source, tell });
  const run = async (bin: string, ...args: string[]) => {
    const child = spawn(bin, args, { stdio: ['ignore', 'ignore', 'pipe'] });
    const said = child.stderr.toArray();
    const [code] = (await once(child, 'exit')) as [number | null];
    return { code, said: Buffer.concat(await said).toString() };
  };
  const [url, schema] = [await testPostgresUrl(), testSchema()];
  assert.equal((await run(next, 'restore', old, '--db-url', join(folder.path, 'next.db'))).code, 0);
  assert.equal((await run(next, 'restore', old, '--db-url', url, '--db-schema', schema)).code, 0);
  const rows = await queriesTo(url)<{ colour: string; count: number }>(
    `select colour, count(*)::integer as count from "${schema}".job group by colour`,
  );
  assert.deepEqual(rows, [{ colour: 'red', count: 32 }]);
  assert.equal((await run(next, 'export', newer, '--db-url', url, '--db-schema', schema)).code, 0);
  const refused = await run(PROGRAM, 'restore', newer, '--db-url', join(folder.path, 'back.db'));
  assert.equal(refused.code, 2);
  assert.match(refused.said, /newer Workron/);
});

for (const driver of ['sqlite', 'postgres'] as const) {
  test(`export: one of a version before the first release, with other tables, is restored in ${driver}`, async () => {
    await using folder = await aFolder();
    const target = await aPlace(driver, folder.path, 'to');
    const file = fileURLToPath(new URL('../kit/before-release.jsonl', import.meta.url));
    assert.equal(await restore({ ...target, input: inPieces(file), tell }), 26);

    await using store = await open(target);
    const jobs = await store.read([1, 2, 3, 4, 5, 6, 7, 8], forever);
    assert.deepEqual(
      jobs.map(({ name, status }) => `${name ?? 'message'} ${status}`),
      'pending pending,later scheduled,done done,told failed,untold failed,message scheduled,member pending,member pending'.split(
        ',',
      ),
    );
    assert.deepEqual(
      (await store.notices(10, forever)).map(({ kind, jobId }) => [kind, jobId]),
      [['ended', 5]],
    );
    assert.deepEqual(
      (await store.notifications({ jobId: 4 }, forever)).map(({ event, deliveredBy }) => [event, deliveredBy]),
      [['failed', 6]],
    );
    const { id } = await register(store, { slots: 4 });
    assert.equal((await claim(store, id, { limit: 4 })).length, 1, 'members of a gang are not claimed one by one');
    assert.equal(await store.placeGangs(forever), 2);
  });
}

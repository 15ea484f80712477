import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { aJob, jobs } from '../../../contract/kit/builders.ts';
import { VirtualClock } from '../../../contract/kit/clock.ts';
import {
  cancel,
  claim,
  claimOne,
  fail,
  forever,
  ids,
  readOne,
  register,
  submit,
  submitOne,
  succeed,
} from '../../../contract/kit/steps.ts';
import { isWorkronError } from '../../../src/core/error.ts';
import { silentLog } from '../../../src/ops/log.ts';
import { openSqlite, type SqliteStore } from '../../../src/store/sqlite/base/open.ts';
import { Child } from '../../kit/child.ts';
import { aFolder, openTestSqlite } from '../../kit/sqlite.ts';

function open(file: string, clock = new VirtualClock()): Promise<SqliteStore> {
  return openSqlite({ file, clock, log: silentLog });
}

test('sqlite: closed and opened again, everything is as it was', async () => {
  await using folder = await aFolder();
  const file = join(folder.path, 'workron.db');
  const clock = new VirtualClock();
  const before = await open(file, clock);
  await succeed(before, await claimOne(before, aJob({ name: 'done' })), { answer: 42 });
  await fail(before, await claimOne(before, aJob({ name: 'failed', maxAttempts: 1 })));
  await fail(before, await claimOne(before, aJob({ name: 'waits for its second attempt' })));
  const running = await claimOne(before, aJob({ name: 'running' }));
  const leaseOf = { jobId: running.job.id, attempt: running.job.attempt };
  await before.appendLogs([{ ...leaseOf, workerId: running.workerId, offset: 0, data: Buffer.from('hi') }], forever);
  const stopping = await claimOne(before, aJob({ name: 'asked to stop' }));
  await cancel(before, stopping.job.id);
  await submitOne(
    before,
    aJob({ name: 'scheduled', delayMs: 60_000, unique: { key: 'k', while: 'active', onConflict: 'existing' } }),
  );
  await cancel(before, (await submitOne(before, aJob({ name: 'cancelled' }))).id);
  await submitOne(before, aJob({ name: 'pending', tags: ['a'], requires: ['gpu'], resources: { gpu: 1 } }));
  await before.setQueue('slow', { paused: true, maxRunning: 3 }, forever);
  const told = await tellAll(before, leaseOf);
  await before[Symbol.asyncDispose]();
  assert.equal(existsSync(`${file}-wal`), false, 'the write-prefetch log is gone');

  await using after = await open(file, clock);
  assert.deepEqual(await tellAll(after, leaseOf), told);
  const statuses = new Set(told.jobs.map(({ status }) => status));
  assert.deepEqual([...statuses].sort(), ['cancelled', 'done', 'failed', 'pending', 'running', 'scheduled']);
  const again = aJob({ unique: { key: 'k', while: 'active', onConflict: 'existing' } });
  const { items } = await after.insert([again], {}, forever);
  assert.equal(items[0]?.deduplicated, true);
  assert.equal((await succeed(after, running)).result, 'ok');
});

async function tellAll(store: SqliteStore, { jobId, attempt }: { jobId: number; attempt: number }) {
  const all = await store.list({}, { before: null, limit: 100 }, forever);
  return {
    jobs: all,
    attempts: await Promise.all(all.map(({ id }) => store.attempts(id, forever))),
    log: await store.readLog({ jobId, attempt, from: 0, maxBytes: 100 }, forever),
    queues: await store.queues(forever),
    workers: await store.workers(forever),
  };
}

test('sqlite: ids are not given again, not even those of the newest job once it is pruned', async () => {
  await using folder = await aFolder();
  const file = join(folder.path, 'workron.db');
  const clock = new VirtualClock();
  const before = await open(file, clock);
  const { id } = await submitOne(before, aJob());
  await cancel(before, id);
  clock.advance(1_000);
  assert.equal(await before.prune({ doneMs: 0, otherMs: 0, statsMs: 0 }, 10, forever), 1);
  await before[Symbol.asyncDispose]();

  await using after = await open(file, clock);
  assert.ok((await submitOne(after, aJob())).id > id);
});

test('sqlite: a file has one owner; a second one is told what to do, and gets it when the first has died', async () => {
  await using folder = await aFolder();
  const file = join(folder.path, 'workron.db');
  await using first = Child.script(new URL('../../kit/sqlite-writer.ts', import.meta.url), file);
  assert.equal(await first.line(), 'open');

  await assert.rejects(open(file), (error: Error) => {
    assert.ok(isWorkronError(error, 'store_unavailable'));
    assert.ok(error.message.includes(file) && error.message.includes('--url'), error.message);
    return true;
  });
  await first.kill();
  await using second = await open(file);
  await submitOne(second, aJob());
});

test('sqlite: in one process, too, a file has one owner', async () => {
  await using folder = await aFolder();
  const file = join(folder.path, 'workron.db');
  await using first = await open(file);
  await assert.rejects(open(file), { code: 'store_unavailable' });
  assert.equal((await submit(first, jobs(2))).length, 2);
});

test('sqlite: what is not a database, is another program’s, or of another version, is refused and left as it is', async () => {
  await using folder = await aFolder();
  const text = join(folder.path, 'text.db');
  writeFileSync(text, 'not a database at all, but long enough to be taken for a header of one'.repeat(20));
  await refuses(text, /not a SQLite database/);

  const foreign = join(folder.path, 'foreign.db');
  write(foreign, 'create table books (title text)');
  await refuses(foreign, /another program.*books/);

  const newer = join(folder.path, 'newer.db');
  await (await open(newer))[Symbol.asyncDispose]();
  write(newer, 'update meta set schema_version = 99, min_code = 99');
  await refuses(newer, /newer Workron/, 'incompatible_schema');

  const earlier = join(folder.path, 'earlier.db');
  writeFileSync(earlier, gunzipSync(readFileSync(new URL('../../kit/before-release.db.gz', import.meta.url))), {
    mode: 0o600,
  });
  await refuses(earlier, /before the first release.*`workron export.*`workron restore/, 'incompatible_schema');
  const other = join(folder.path, 'other.db');
  await (await open(other))[Symbol.asyncDispose]();
  write(other, `update meta set foundation = 'another'`);
  await refuses(other, /before the first release/, 'incompatible_schema');

  await assert.rejects(open(join(folder.path, 'no', 'such', 'folder', 'x.db')), {
    code: 'store_unavailable',
    message: /folder exists/,
  });
});

async function refuses(file: string, message: RegExp, code = 'store_unavailable'): Promise<void> {
  const before = readFileSync(file);
  await assert.rejects(open(file), { code, message });
  assert.deepEqual(readFileSync(file), before);
}

function write(file: string, statement: string): void {
  const database = new DatabaseSync(file);
  database.exec(statement);
  database.close();
}

test('sqlite: a file that another program has locked is unavailable, and all goes on when it lets go', async () => {
  await using opened = await openTestSqlite();
  const { store } = opened;
  await submitOne(store, aJob());
  const other = new DatabaseSync(store.location);
  other.exec('begin immediate');
  try {
    await assert.rejects(submitOne(store, aJob()), { code: 'store_unavailable', message: /lock/ });
  } finally {
    other.exec('rollback');
    other.close();
  }
  assert.equal((await submitOne(store, aJob())).id, 2);
});

test('sqlite: a backup made under load is a whole database as of one moment', async () => {
  await using opened = await openTestSqlite();
  await using folder = await aFolder();
  const { store } = opened;
  const copy = join(folder.path, 'copy.db');
  await submit(store, jobs(2_000, { command: 'x'.repeat(500) }));
  const worker = await register(store);
  const copied = new AbortController();
  const load = (async () => {
    while (!copied.signal.aborted) {
      await submit(store, jobs(10));
      await claim(store, worker.id, { limit: 5 });
    }
  })();
  await store.backup(copy, forever);
  copied.abort();
  await load;

  await assert.rejects(store.backup(copy, forever), { code: 'bad_request', message: /exists already/ });
  await using backup = await open(copy);
  const count = await backup.count({}, 1_000_000, forever);
  assert.ok(count >= 2_000 && count % 10 === 0, `${count} jobs`);
  const [newest] = await backup.list({}, { before: null, limit: 1 }, forever);
  assert.equal(newest?.id, count);
  const [first] = ids(await submit(backup, jobs(1)));
  assert.equal((await readOne(backup, first ?? 0)).status, 'pending');
});

const modesIn = (folder: string) =>
  Object.fromEntries(
    readdirSync(folder).map((name) => [name, (statSync(join(folder, name)).mode & 0o777).toString(8)]),
  );

test('sqlite: other users cannot read the database, the files beside it or a backup', async () => {
  await using folder = await aFolder();
  const file = join(folder.path, 'workron.db');
  await using store = await open(file);
  await submitOne(store, aJob());
  await store.backup(join(folder.path, 'copy.db'), forever);
  const modes = modesIn(folder.path);
  for (const name of ['copy.db', 'workron.db', 'workron.db-owner', 'workron.db-shm', 'workron.db-wal']) {
    assert.ok(name in modes, name);
  }
  assert.deepEqual(new Set(Object.values(modes)), new Set(['600']), JSON.stringify(modes));
});

test('sqlite: files that other users may read are made private at start, and the log says so', async () => {
  await using folder = await aFolder();
  const file = join(folder.path, 'workron.db');
  await (await open(file))[Symbol.asyncDispose]();
  chmodSync(file, 0o644);
  chmodSync(`${file}-owner`, 0o664);
  const lines: object[] = [];
  const log = { ...silentLog, warn: (fields: object) => lines.push(fields) };
  await using _store = await openSqlite({ file, clock: new VirtualClock(), log });
  assert.deepEqual(new Set(Object.values(modesIn(folder.path))), new Set(['600']));
  assert.deepEqual(lines[0], { file, mode: '644' });
  assert.ok(lines.some((line) => JSON.stringify(line) === JSON.stringify({ file: `${file}-owner`, mode: '664' })));
});

test('sqlite: a file that another user made is not used, nor a database beside which another user made one', {
  skip: process.getuid?.() === 0 ? false : 'needs root, to give files away',
}, async () => {
  await using folder = await aFolder();
  const file = join(folder.path, 'workron.db');
  const foreign = { code: 'store_unavailable', message: /belongs to another user \(65533\), who could write jobs/ };
  await (await open(file))[Symbol.asyncDispose]();
  chownSync(file, 65_533, 65_533);
  await assert.rejects(open(file), foreign);
  chownSync(file, 0, 0);
  for (const suffix of ['-wal', '-shm', '-journal', '-owner']) {
    writeFileSync(file + suffix, '');
    chownSync(file + suffix, 65_533, 65_533);
    await assert.rejects(open(file), foreign, suffix);
    rmSync(file + suffix);
  }
  await using _store = await open(file);
});

const needsRoot = { skip: process.getuid?.() === 0 ? false : 'needs root, to be another user' };
const OTHER = 65_533;

/** Runs a line as another user. Returns its exit code. */
function asOther(line: string): number | null {
  const { status, error } = spawnSync('sh', ['-c', line], { uid: OTHER, gid: OTHER });
  if (error !== undefined) throw error;
  return status;
}

test(
  'sqlite: no other user can replace the database in its folder, and the log says what was changed',
  needsRoot,
  async () => {
    await using folder = await aFolder();
    const file = join(folder.path, 'workron.db');
    chmodSync(folder.path, 0o777);
    assert.equal(asOther(`touch ${folder.path}/a && mv ${folder.path}/a ${folder.path}/b`), 0);
    const lines: object[] = [];
    const log = { ...silentLog, warn: (fields: object) => lines.push(fields) };
    await using _store = await openSqlite({ file, clock: new VirtualClock(), log });
    assert.equal(statSync(folder.path).mode & 0o7777, 0o775);
    assert.deepEqual(lines, [{ folder: folder.path, mode: '777' }]);
    assert.notEqual(asOther(`mv ${file} ${file}-taken || cp /dev/null ${folder.path}/c`), 0);
    assert.ok(existsSync(file));
  },
);

test('sqlite: a folder like /tmp, where each user can replace only files of their own, is left as it is', async () => {
  await using folder = await aFolder();
  chmodSync(folder.path, 0o1777);
  await using _store = await open(join(folder.path, 'workron.db'));
  assert.equal(statSync(folder.path).mode & 0o7777, 0o1777);
});

test(
  'sqlite: a folder of another user, who could replace the database, is refused and left as it is',
  needsRoot,
  async () => {
    await using folder = await aFolder();
    await using elsewhere = await aFolder();
    const file = join(folder.path, 'workron.db');
    chownSync(folder.path, OTHER, OTHER);
    const refused = { code: 'store_unavailable', message: /the folder .* belongs to another user \(65533\).*--db-url/ };
    await assert.rejects(open(file), refused);
    assert.deepEqual(readdirSync(folder.path), []);
    chownSync(folder.path, 0, 0);
    await (await open(file))[Symbol.asyncDispose]();
    chownSync(folder.path, OTHER, OTHER);
    symlinkSync(file, join(elsewhere.path, 'link.db'));
    await assert.rejects(open(join(elsewhere.path, 'link.db')), refused);
  },
);

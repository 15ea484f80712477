/** Jobs in the application's own transactions, on another connection to the same SQLite file. */

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import BetterSqlite from 'better-sqlite3';
import { z } from 'zod';
import { job, type OpenOptions, open, type Workron } from '../../src/index.ts';
import { eventually } from '../kit/eventually.ts';
import { aFolder } from '../kit/sqlite.ts';
import { exerciseTransaction } from './exercise-transaction.ts';

const mail = job('mail', { run: (to: string) => `sent to ${to}` });

async function openPlace(options: OpenOptions = {}): Promise<{ workron: Workron; db: DatabaseSync } & AsyncDisposable> {
  const folder = await aFolder();
  const file = join(folder.path, 'shop.db');
  const workron = await open(file, { log: 'silent', ...options });
  const db = new DatabaseSync(file, { timeout: 5_000 });
  db.exec('create table orders (id integer primary key, item text)');
  return {
    workron,
    db,
    async [Symbol.asyncDispose]() {
      db.close();
      await workron.stop();
      await folder[Symbol.asyncDispose]();
    },
  };
}

exerciseTransaction('SQLite', async (options) => {
  const place = await openPlace(options);
  const { workron, db } = place;
  return {
    workron,
    specOf: async (id) => String(db.prepare('select spec from job where id = ?').get(id)?.['spec']),
    lose: async (id) => db.prepare('update live set attempt = attempt + 1 where job_id = ?').run(id),
    async transact(body) {
      db.exec('begin immediate');
      try {
        const answer = await body(db);
        db.exec('commit');
        return answer;
      } catch (error) {
        db.exec('rollback');
        throw error;
      }
    },
    [Symbol.asyncDispose]: () => place[Symbol.asyncDispose](),
  };
});

test('transaction: on SQLite a job is there on commit, with its parents judged, and vanishes on rollback', async () => {
  await using given = await openPlace();
  const { workron, db } = given;
  await workron.start({ jobs: [mail], commands: true });
  const bad = await workron.submitCommand('exit 1', { maxAttempts: 1 });
  await bad.ended();
  db.exec('begin immediate');
  db.exec(`insert into orders (item) values ('book')`);
  const first = await workron.submit(mail, 'ada', { tx: db, queue: 'new', unique: { key: 'k' } });
  const second = await workron.submit(mail, 'bob', { tx: db, dependsOn: [first] });
  const never = await workron.submit(mail, 'eve', { tx: db, dependsOn: [bad] });
  const later = await workron.submit(mail, 'zoe', { tx: db, delay: '1h', startTimeout: '1m' });
  assert.equal((await workron.submit(mail, 'x', { tx: db, unique: { key: 'k' } })).id, first.id);
  await assert.rejects(workron.submit(mail, 'x', { tx: db, dependsOn: ['99999'] }), { code: 'dependency_unknown' });
  db.exec('commit');
  assert.equal(await first.result(), 'sent to ada');
  assert.equal(await second.result(), 'sent to bob');
  assert.equal((await never.ended()).status, 'skipped');
  const { status, expiresAt } = await later.job();
  assert.deepEqual([status, expiresAt === null], ['scheduled', false]);
  db.exec('begin immediate');
  const gone = await workron.submit(mail, 'nobody', { tx: db });
  db.exec('rollback');
  await assert.rejects(gone.job(), { code: 'job_not_found' });
});

test('transaction: on SQLite a success and the application’s writes are there together', async () => {
  await using given = await openPlace();
  const { workron, db } = given;
  const ship = job('ship', {
    maxAttempts: 2,
    backoff: { type: 'none' },
    async run(item: string, { complete, attempt }) {
      db.exec('begin immediate');
      db.prepare('insert into orders (item) values (?)').run(item);
      await complete(db, attempt);
      if (attempt === 1) {
        db.exec('rollback');
        throw new Error('no');
      }
      db.exec('commit');
      throw new Error('too late to matter');
    },
  });
  await workron.start({ jobs: [ship, mail] });
  const handle = await workron.submit(ship, 'book', { unique: { key: 'once' } });
  const child = await workron.submit(mail, 'child', { dependsOn: [handle] });
  assert.equal(await handle.result(), 2);
  assert.equal(await child.result(), 'sent to child');
  assert.equal(db.prepare('select count(*) as n from orders').get()?.['n'], 1);
  assert.equal((await workron.submit(ship, 'again', { unique: { key: 'once' } })).deduplicated, false);
});

test('transaction: in memory, and over HTTP, there is none to share', async () => {
  await using workron = await open('memory:', { log: 'silent' });
  await assert.rejects(
    workron.submit(mail, 'x', { tx: async () => [] }),
    /^WorkronError: tx: a memory store does not support transactions of the application$/,
  );
});

test('transaction: a success that was committed with the application’s writes counts as done, once; one that was rolled back has failed', async () => {
  await using given = await openPlace();
  const { workron, db } = given;
  const ship = job('ship', {
    maxAttempts: 1,
    async run(how: string, { complete }) {
      db.exec('begin immediate');
      await complete(db);
      db.exec(how === 'rolled back' ? 'rollback' : 'commit');
      if (how === 'throws') throw new Error('too late to matter');
    },
  });
  await workron.start({ jobs: [ship], concurrency: 1 });
  const handles = await workron.submitAll(ship, ['committed', 'throws', 'rolled back', 'last']);
  const ended = await Promise.all(handles.map((handle) => handle.ended()));
  assert.deepEqual(
    ended.map(({ status }) => status),
    ['done', 'done', 'failed', 'done'],
  );
  assert.match(ended[2]?.error ?? '', /its transaction had not committed when the handler returned/);
  const { fetch } = await workron.mount();
  const counted = async () => {
    const metrics = await (await fetch(new Request('http://localhost/metrics'))).text();
    return /^workron_job_events_total\{event="done",queue="default"[^}]*\} (\d+)$/m.exec(metrics)?.[1];
  };
  await eventually(async () => Number(await counted()) >= 3);
  assert.equal(await counted(), '3');
  await assert.rejects(workron.retry(handles[0]?.id as string), { code: 'illegal_transition' });
});

test('transaction: submissions and successes that are not waited for are in the transaction of the same turn', async () => {
  await using given = await openPlace();
  const { workron, db } = given;
  const checked = job('checked', { input: z.object({ to: z.string() }), run: ({ to }) => `checked ${to}` });
  const ship = job('ship', {
    maxAttempts: 2,
    backoff: { type: 'none' },
    async run(item: string, { complete, attempt }) {
      db.exec('begin immediate');
      db.prepare('insert into orders (item) values (?)').run(item);
      const completed = complete(db, attempt);
      db.exec(attempt === 1 ? 'rollback' : 'commit');
      await completed;
      if (attempt === 1) throw new Error('no');
      return attempt;
    },
  });
  await workron.start({ jobs: [mail, checked, ship] });
  const submit = (end: 'commit' | 'rollback') => {
    db.exec('begin immediate');
    const first = workron.submit(mail, 'ada', { tx: db, unique: { key: end } });
    const second = workron.submit(checked, { to: 'bob' }, { tx: db });
    db.exec(end);
    return Promise.all([first, second]);
  };
  const [first, second] = await submit('commit');
  assert.deepEqual([await first.result(), await second.result()], ['sent to ada', 'checked bob']);
  for (const handle of await submit('rollback')) await assert.rejects(handle.job(), { code: 'job_not_found' });
  assert.equal(await (await workron.submit(ship, 'book')).result(), 2);
  assert.equal(db.prepare('select count(*) as n from orders').get()?.['n'], 1);
});

test('transaction: on SQLite a submission that comes after the transaction has ended is refused and writes nothing', async () => {
  await using given = await openPlace();
  const { workron, db } = given;
  const slow = job('slow', { input: z.string().refine(async () => true), run: () => null });
  db.exec('begin immediate');
  const late = workron.submit(slow, 'x', { tx: db });
  db.exec('commit');
  await assert.rejects(late, { code: 'bad_request', message: /expected an open transaction/ });
  assert.equal(db.prepare('select count(*) as n from job').get()?.['n'], 0);
});

test('transaction: another build of SQLite in this process is refused, as its locks are not seen; nothing is written', async () => {
  await using folder = await aFolder();
  const file = join(folder.path, 'shop.db');
  await using workron = await open(file, { log: 'silent' });
  using db = Object.assign(new BetterSqlite(file), { [Symbol.dispose]: () => db.close() });
  const refused = { code: 'bad_request', message: /another build of SQLite.*use node:sqlite/ };
  const run = (text: string, values: readonly unknown[]) => db.prepare(text).all(...values);
  let submitted: Promise<unknown>[] = [];
  db.transaction(() => {
    submitted = [workron.submit(mail, 'x', { tx: db }), workron.submit(mail, 'x', { tx: run })];
  }).immediate();
  for (const one of submitted) await assert.rejects(one, refused);
  assert.deepEqual(db.prepare('select count(*) as n from job').get(), { n: 0 });
});

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { aJob } from '../../contract/kit/builders.ts';
import { ListedJob } from '../../src/api/job.ts';
import { NEVER } from '../../src/core/never.ts';
import { AnswerBudget } from '../../src/http/answer-budget.ts';
import { systemClock } from '../../src/ops/clock.ts';
import { silentLog } from '../../src/ops/log.ts';
import { openMemory } from '../../src/store/memory/open.ts';
import { openSqlite } from '../../src/store/sqlite/base/open.ts';
import { openTestServer } from '../kit/http.ts';
import { temporaryFolder } from '../kit/workron-process.ts';

const MIB = 1024 * 1024;

for (const kind of ['memory', 'SQLite']) {
  test(`reads cannot stop work: lists of large jobs on ${kind} stay small, and a heartbeat overtakes them`, async () => {
    await using folder = await temporaryFolder();
    const file = join(folder.path, 'w.db');
    await using store =
      kind === 'memory'
        ? openMemory({ clock: systemClock })
        : await openSqlite({ file, clock: systemClock, log: silentLog });
    await using server = await openTestServer({ store });
    const command = `: ${'x'.repeat(MIB - 100)}`;
    await server.scheduler.submit(
      Array.from({ length: 200 }, () => aJob({ command })),
      {},
      NEVER,
    );
    const worker = await server.call('POST', '/workers/register', { name: 'w' });
    const ended: string[] = [];
    const lists = Array.from({ length: 16 }, async () => {
      const answer = await fetch(`${server.url}/jobs?limit=200`);
      const text = await answer.text();
      ended.push('list');
      return text;
    });
    const beat = await server.call('POST', `/workers/${worker.body.worker_id}/heartbeat`, {});
    ended.push('heartbeat');
    assert.equal(beat.status, 200);
    for (const text of await Promise.all(lists)) {
      assert.ok(text.length < 2 * MIB, `a list of ${text.length} bytes`);
      const { items } = JSON.parse(text) as { items: ListedJob[] };
      assert.equal(items.length, 200);
      const [first] = items as [ListedJob];
      assert.deepEqual(ListedJob.parse(first), first);
      assert.deepEqual(first.cut, ['command']);
      assert.equal(first.command, command.slice(0, 4_096));
    }
    assert.notEqual(ended.at(-1), 'heartbeat', 'the heartbeat was answered before the last list');
    const { body: whole } = await server.call('GET', '/jobs/1');
    assert.deepEqual([whole.command, whole.cut], [command, undefined]);
  });
}

test('answers in flight are bounded: reads wait for room in the order in which they came', async () => {
  const budget = new AnswerBudget(10 * MIB);
  const first = await budget.take(NEVER);
  first.resize(7 * MIB);
  const order: string[] = [];
  const second = budget.take(NEVER).then((room) => (order.push('second'), room));
  const third = budget.take(NEVER).then((room) => (order.push('third'), room));
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(order, [], 'there is no room beside the large answer');
  first.release();
  first.release();
  const room = await second;
  room.resize(9 * MIB);
  await third.then((other) => other.release());
  assert.deepEqual(order, ['second', 'third']);
  let isIn = false;
  const fourth = budget.take(NEVER).then((other) => {
    isIn = true;
    return other;
  });
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(isIn, false, 'releasing twice gives room back once');
  room.release();
  (await fourth).release();
});

test('answers in flight: who waits too long is refused, and who hangs up makes room for the next', async () => {
  const budget = new AnswerBudget(4 * MIB, 1);
  const holder = await budget.take(NEVER);
  await assert.rejects(budget.take(NEVER), { code: 'overloaded' });
  const patient = new AnswerBudget(4 * MIB);
  const held = await patient.take(NEVER);
  const caller = new AbortController();
  const hungUp = patient.take(caller.signal);
  const next = patient.take(NEVER);
  caller.abort(new Error('gone'));
  await assert.rejects(hungUp, /gone/);
  held.release();
  (await next).release();
  holder.release();
});

test('answers in flight: one answer larger than the whole budget is served when it is alone', async () => {
  const budget = new AnswerBudget(1);
  (await budget.take(NEVER)).release();
});

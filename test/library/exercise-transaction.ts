/** What comes of jobs that were submitted or ended in an application's own transaction, on any database. */

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { job, type OpenOptions, type Transaction, type Workron } from '../../src/index.ts';
import { silentLog } from '../../src/ops/log.ts';
import { eventually } from '../kit/eventually.ts';
import { openHookReceiver } from '../kit/hook-receiver.ts';

/** How soon output is there; a test with a fault must not wait for minutes. */
const SOON = { withinMs: 20_000 };

export interface TransactionPlace extends AsyncDisposable {
  workron: Workron;
  /** The spec of a job as it is stored. */
  specOf: (id: string) => Promise<string>;
  /** Takes a running attempt away from its worker. */
  lose: (id: string) => Promise<unknown>;
  /** Runs `body` in a transaction and commits. */
  transact: <T>(body: (tx: Transaction) => Promise<T>) => Promise<T>;
}

export function exerciseTransaction(name: string, open: (options: OpenOptions) => Promise<TransactionPlace>): void {
  test(`transaction: on ${name}, tenants take turns with what it submits`, async () => {
    await using given = await open({});
    const { workron, transact } = given;
    const order: string[] = [];
    const work = job('work', { queue: 'fair', run: (tenant: string) => void order.push(tenant) });
    const api = await workron.mount();
    const pause = async (paused: boolean) => {
      const headers = { 'content-type': 'application/json' };
      const body = JSON.stringify({ paused });
      const answer = await api.fetch(new Request('http://localhost/queues/fair', { method: 'PATCH', headers, body }));
      assert.equal(answer.status, 200);
    };
    await pause(true);
    await workron.start({ jobs: [work], concurrency: 1 });
    const handles = await transact(async (tx) => {
      const many = await workron.submitAll(work, ['a', 'a', 'a'], { tx, fairKey: 'a' });
      return [...many, await workron.submit(work, 'b', { tx, fairKey: 'b' })];
    });
    handles.push(await workron.submit(work, 'c', { fairKey: 'c' }));
    await eventually(async () => {
      const jobs = await Promise.all(handles.map((handle) => handle.job()));
      return jobs.every(({ status }) => status === 'pending');
    });
    assert.equal((await handles[0]?.job())?.fairKey, 'a');
    await pause(false);
    await Promise.all(handles.map((handle) => handle.ended()));
    assert.deepEqual(order, ['a', 'b', 'c', 'a', 'a']);
  });

  test(`transaction: on ${name}, texts in env are sealed with the key of this process, and handlers get them`, async () => {
    await using given = await open({ secretsKey: randomBytes(32).toString('base64') });
    const { workron, transact, specOf } = given;
    const show = job('show', { run: (_: string, { env }) => env['A'] ?? null });
    const handle = await transact((tx) => workron.submit(show, '', { tx, env: { A: 'a-text-in-env' } }));
    const spec = await specOf(handle.id);
    assert.match(spec, /"A": ?\{"sealed": ?"[0-9a-f]{8}:[\w+/=]+"\}/);
    assert.doesNotMatch(spec, /a-text-in-env/);
    await workron.start({ jobs: [show] });
    assert.equal(await handle.result(), 'a-text-in-env');
  });

  test(`transaction: on ${name}, an input is sealed with the key of this process, and without one refused`, async () => {
    await using given = await open({ secretsKey: randomBytes(32).toString('base64') });
    const { workron, transact, specOf } = given;
    const show = job('show', { sealInput: true, run: (text: string) => text });
    const handle = await transact((tx) => workron.submit(show, 'a-sealed-input', { tx }));
    const spec = await specOf(handle.id);
    assert.match(spec, /"sealed_input": ?"[0-9a-f]{8}:[\w+/=]+"/);
    assert.doesNotMatch(spec, /a-sealed-input/);
    await workron.start({ jobs: [show] });
    assert.equal(await handle.result(), 'a-sealed-input');
    await using keyless = await open({});
    const refused = keyless.transact((tx) => keyless.workron.submit(show, 'a-sealed-input', { tx }));
    await assert.rejects(refused, { code: 'no_secrets_key' });
  });

  test(`transaction: on ${name}, targets are notified about jobs that the transaction submits or ends`, async () => {
    await using receiver = await openHookReceiver();
    await using given = await open({
      notify: [{ on: ['failed'], webhook: `${receiver.url}/installation` }],
      notifyAllowPrivate: ['127.0.0.1'],
    });
    const { workron, transact } = given;
    const flaky = job('flaky', {
      maxAttempts: 1,
      async run(fails: boolean, { complete }) {
        if (fails) throw new Error('no');
        await transact((tx) => complete(tx));
      },
    });
    await workron.start({ jobs: [flaky] });
    const submit = (fails: boolean) =>
      transact((tx) =>
        workron.submit(flaky, fails, {
          tx,
          name: 'nightly',
          notify: [{ on: ['failed', 'recovered'], webhook: `${receiver.url}/own` }],
        }),
      );
    const told = () =>
      receiver.received.map(({ path, body }) => {
        const { event, job: about } = JSON.parse(body) as { event: string; job: { id: string } };
        return `${path} ${event} ${about.id}`;
      });
    const failed = await submit(true);
    assert.equal((await failed.ended()).status, 'failed');
    await eventually(async () => told().length >= 2);
    const done = await submit(false);
    assert.equal((await done.ended()).status, 'done');
    await eventually(async () => told().length >= 3);
    assert.deepEqual(told().sort(), [
      `/installation failed ${failed.id}`,
      `/own failed ${failed.id}`,
      `/own recovered ${done.id}`,
    ]);
  });

  test(`transaction: on ${name}, a function that completes, rolls back and returns has failed, and runs again`, async () => {
    await using given = await open({});
    const { workron, transact } = given;
    const swallows = job('swallows', {
      maxAttempts: 2,
      backoff: { type: 'none' },
      async run(_: unknown, { complete, attempt }) {
        const failing = transact(async (tx) => {
          await complete(tx, attempt);
          if (attempt === 1) throw new Error('rolled back');
        });
        await failing.catch(() => undefined);
        return attempt;
      },
    });
    await workron.start({ jobs: [swallows] });
    const handle = await workron.submit(swallows);
    assert.equal(await handle.result(), 2);
    const attempts = await workron.attempts(handle.id);
    assert.deepEqual(
      attempts.map(({ outcome }) => outcome),
      ['failed', 'done'],
    );
    assert.match(attempts[0]?.error ?? '', /complete\(\) was called, but its transaction had not committed/);
  });

  test(`transaction: on ${name}, a function that goes on after its commit is not stopped, and nobody is warned`, async () => {
    const { warnings, log } = warningsOf();
    await using given = await open({ lease: '2s', heartbeat: 100, log });
    const { workron, transact } = given;
    const committed = Promise.withResolvers<void>();
    const go = Promise.withResolvers<void>();
    let reason: unknown = 'not stopped';
    const lingers = job('lingers', {
      async run(_: unknown, { complete, signal }) {
        signal.addEventListener('abort', () => (reason = signal.reason));
        await transact((tx) => complete(tx, 'the result'));
        committed.resolve();
        await go.promise;
        throw new Error('too late to matter');
      },
    });
    const beats = job('beats', { run: () => new Promise((resolve) => setTimeout(resolve, 400)) });
    await workron.start({ jobs: [lingers, beats] });
    const handle = await workron.submit(lingers);
    await committed.promise;
    assert.equal(await handle.result(), 'the result');
    // While another job runs, several heartbeats are answered.
    await (await workron.submit(beats)).result();
    go.resolve();
    await workron.stop();
    assert.equal(reason, 'not stopped');
    assert.deepEqual(warnings, []);
  });

  test(`transaction: on ${name}, all that a function logs and reports around its commit is kept, and nobody is warned`, async () => {
    const { warnings, log } = warningsOf();
    await using given = await open({ log });
    const { workron, transact } = given;
    const talks = job('talks', {
      async run(how: 'returns' | 'throws', { complete, log, progress }) {
        log('before');
        progress(0.1, 'before');
        await transact(async (tx) => {
          await complete(tx, how);
          log('completed');
        });
        log('committed');
        await sleep(300); // a flush of output and progress is due meanwhile
        log('later');
        progress(1, 'later');
        if (how === 'throws') throw new Error('too late to matter');
        return how;
      },
    });
    await workron.start({ jobs: [talks], concurrency: 1 }); // the transactions may share a connection
    const handles = await workron.submitAll(talks, ['returns', 'throws']);
    for (const handle of handles) {
      assert.ok(['returns', 'throws'].includes(await handle.result()));
      await eventually(async (saw) => saw(await logOf(workron, handle.id)).endsWith('later\n'), SOON);
      assert.equal(await logOf(workron, handle.id), 'before\ncompleted\ncommitted\nlater\n');
      await eventually(async (saw) => saw((await handle.job()).progress)?.text === 'later');
      assert.equal((await workron.attempts(handle.id)).length, 1);
    }
    await workron.stop();
    assert.deepEqual(warnings, []);
  });

  test(`transaction: on ${name}, a result that JSON cannot hold is not tried again`, async () => {
    await using given = await open({});
    const { workron, transact } = given;
    const big = job('big', { maxAttempts: 3, run: (_: unknown, { complete }) => transact((tx) => complete(tx, 1n)) });
    await workron.start({ jobs: [big] });
    const ended = await (await workron.submit(big)).ended();
    assert.deepEqual([ended.status, ended.reason, ended.attempts], ['failed', 'fatal', 1]);
    assert.match(ended.error ?? '', /the result is not JSON: /);
  });

  test(`transaction: on ${name}, an attempt that lost its lease after a rollback writes nothing more, with a warning`, async () => {
    const { warnings, log } = warningsOf();
    await using given = await open({ log });
    const { workron, transact, lose } = given;
    const loses = job('loses', {
      async run(_: unknown, { complete, id, log }) {
        const rolledBack = transact(async (tx) => {
          await complete(tx);
          throw new Error('rolled back');
        });
        await rolledBack.catch(() => undefined);
        await lose(id);
        log('from an attempt that is lost');
      },
    });
    await workron.start({ jobs: [loses] });
    const { id } = await workron.submit(loses);
    await eventually(() => warnings.length > 0);
    assert.deepEqual(warnings, ['outcome was dropped: its lease is lost']);
    assert.equal(await logOf(workron, id), '');
  });
}

function warningsOf() {
  const warnings: string[] = [];
  const log = { ...silentLog, warn: (_: object, message: string) => void warnings.push(message) };
  return { warnings, log: { ...log, child: () => log } };
}

/** The output of all attempts of a job. */
async function logOf(workron: Workron, id: string): Promise<string> {
  const { fetch } = await workron.mount();
  const answer = await fetch(new Request(`http://localhost/jobs/${id}/logs`));
  return await answer.text();
}

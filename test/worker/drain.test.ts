/** How a worker goes. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WorkronError } from '../../src/core/error.ts';
import { silentLog } from '../../src/ops/log.ts';
import { longSleep, pidsOf, untilAlive } from '../kit/processes.ts';
import { ScriptedSource } from '../kit/scripted-source.ts';
import { TestWorker } from '../kit/worker.ts';

test('worker: drain lets what runs finish, goes on with heartbeats, and claims nothing more', async () => {
  const source = new ScriptedSource();
  await using running = new TestWorker(source);
  const line = longSleep();
  const [id] = source.submit({ command: `${line} || true` }) as [number];
  await untilAlive(line, 1);
  const drained = running.worker.drain();
  const claims = source.claims.length;
  const beats = source.beats.length;
  source.submit({ command: 'echo never' });
  await source.until(() => source.beats.length > beats + 3);
  assert.equal(source.settlements.length, 0);
  for (const pid of pidsOf(line)) process.kill(pid, 'SIGTERM');
  await drained;
  assert.deepEqual(
    source.settlements.map(({ jobId, outcome }) => [jobId, outcome.type]),
    [[id, 'succeeded']],
  );
  assert.equal(source.claims.length, claims);
  assert.deepEqual(source.left, [1]);
});

test('worker: an idle worker leaves at once, giving back what a claim under way may have brought', async () => {
  const source = new ScriptedSource();
  await using running = new TestWorker(source, { handlers: { quick: () => 1 } });
  await source.until(() => source.claims.length === 1 || source.beats.length > 0);
  await running.worker.drain();
  assert.equal(source.beats.at(-1)?.seenClaim, source.claims.length);
  assert.deepEqual(source.left, [1]);
});

test('worker: the scheduler can ask it to drain', async () => {
  const source = new ScriptedSource();
  const running = new TestWorker(source, { handlers: { quick: () => 1 } });
  source.drain = true;
  await running.ran;
  assert.deepEqual(source.left, [1]);
});

test('worker: undrained while it still works, it claims again and stays', async () => {
  const source = new ScriptedSource();
  const held = Promise.withResolvers<void>();
  await using _running = new TestWorker(source, { handlers: { hold: () => held.promise, quick: () => 1 } });
  const [first] = source.submit({ handler: 'hold' }) as [number];
  await source.until(() => source.claims.length > 0);
  source.drain = true;
  const beats = source.beats.length;
  await source.until(() => source.beats.length > beats + 2);
  const [second] = source.submit({ handler: 'quick' }) as [number];
  source.drain = false;
  await source.outcome(second);
  held.resolve();
  await source.outcome(first);
  assert.deepEqual(source.left, []);
});

test('worker: a drained worker whose process goes on claims nothing, stays, and can be brought back more than once', async () => {
  const source = new ScriptedSource();
  await using running = new TestWorker(source, { staysDrained: true, handlers: { quick: () => 1 } });
  for (let round = 0; round < 2; round += 1) {
    source.drain = true;
    const beats = source.beats.length;
    await source.until(() => source.beats.length > beats + 2);
    const claims = source.claims.length;
    const [id] = source.submit({ handler: 'quick' }) as [number];
    await source.until(() => source.beats.length > beats + 5);
    assert.equal(source.claims.length, claims);
    source.drain = false;
    await source.outcome(id);
  }
  source.drain = true;
  const beats = source.beats.length;
  await source.until(() => source.beats.length > beats + 2);
  assert.deepEqual(source.left, []);
  await running.worker.drain();
  assert.deepEqual(source.left, [1]);
});

test('worker: the process wants it to leave: the scheduler cannot bring it back', async () => {
  const source = new ScriptedSource();
  const held = Promise.withResolvers<void>();
  await using running = new TestWorker(source, { staysDrained: true, handlers: { hold: () => held.promise } });
  source.submit({ handler: 'hold' });
  await source.until(() => source.beats.some(({ leases }) => leases.length > 0));
  const drained = running.worker.drain();
  const claims = source.claims.length;
  source.submit({ handler: 'hold' });
  const beats = source.beats.length;
  await source.until(() => source.beats.length > beats + 3);
  held.resolve();
  await drained;
  assert.equal(source.claims.length, claims);
  assert.deepEqual(source.left, [1]);
});

test('worker: stop ends what runs and reports it as interrupted', async () => {
  const source = new ScriptedSource();
  await using running = new TestWorker(source);
  const line = longSleep();
  const [id] = source.submit({ command: `setsid ${line}`, killGraceMs: 100 }) as [number];
  await untilAlive(line, 1);
  await running.worker.stop();
  assert.equal((await source.outcome(id)).type, 'interrupted');
  assert.deepEqual(pidsOf(line), []);
  assert.deepEqual(source.left, [1]);
});

test('worker: a handler that stops its own worker is stopped as well', async () => {
  const source = new ScriptedSource();
  await using running = new TestWorker(source, {
    handlers: {
      last: (_, { signal }) => {
        void running.worker.stop();
        return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      },
    },
  });
  const [id] = source.submit({ handler: 'last' }) as [number];
  assert.equal((await source.outcome(id)).type, 'interrupted');
  await running.ran;
  assert.deepEqual(source.left, [1]);
});

test('worker: with nobody to hear it, it leaves when its lease is over', async () => {
  const source = new ScriptedSource();
  source.leaseMs = 600;
  await using running = new TestWorker(source, { handlers: { quick: () => 1 } });
  for (const call of ['settle', 'heartbeat', 'leave'] as const) {
    source.before(call, () => {
      throw new Error('no route');
    });
  }
  source.submit({ handler: 'quick' });
  await source.until(() => source.claims.length > 1);
  await running.worker.drain();
  assert.deepEqual(source.settlements, []);
});

test('worker: a worker that may not register says so instead of trying for ever', async () => {
  const source = new ScriptedSource();
  source.before('register', () => {
    throw new WorkronError('unauthorized', 'wrong token');
  });
  await assert.rejects(new TestWorker(source, { handlers: { quick: () => 1 } }).ran, /wrong token/);
});

test('worker: leaving after an outage, it does not give back an attempt whose outcome it dropped', async () => {
  const source = new ScriptedSource();
  source.leaseMs = 300;
  let away = false;
  const dropped = (_: object, message: string) => {
    // The scheduler is back right before the worker leaves.
    if (message.startsWith('outcome was dropped')) away = false;
  };
  const fail = () => {
    if (away) throw new WorkronError('unreachable', 'away');
  };
  source.before('heartbeat', fail);
  source.before('settle', () => {
    away = true;
    fail();
  });
  const log = { ...silentLog, warn: dropped };
  const running = new TestWorker(source, { log, handlers: { quick: () => 1 } });
  await running.worker.registered;
  const [id] = source.submit({ handler: 'quick' }) as [number];
  await source.until(() => away || undefined);
  const beats = source.beats.length;
  await running.worker.drain();
  assert.deepEqual(source.left, [1]);
  assert.deepEqual(
    source.beats.slice(beats).filter(({ leases }) => !leases.some(({ jobId }) => jobId === id)),
    [],
  );
});

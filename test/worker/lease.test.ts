/** Claims, heartbeats and settles when answers are late, lost or unwelcome. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WorkronError } from '../../src/core/error.ts';
import { Fatal } from '../../src/core/handler-errors.ts';
import { longSleep, pidsOf, untilAlive } from '../kit/processes.ts';
import { ScriptedSource } from '../kit/scripted-source.ts';
import { TestWorker } from '../kit/worker.ts';

test('worker: a running job is listed in every heartbeat until its settle is answered', async () => {
  const source = new ScriptedSource();
  const gate = Promise.withResolvers<void>();
  source.after('settle', () => gate.promise);
  await using _ = new TestWorker(source, { handlers: { quick: () => undefined } });
  const [id] = source.submit({ handler: 'quick' }) as [number];
  await source.outcome(id);
  const beats = source.beats.length;
  await source.until(() => source.beats.length > beats + 3);
  for (const beat of source.beats.slice(beats + 1)) assert.deepEqual(beat.leases, [{ jobId: id, attempt: 1 }]);
  gate.resolve();
  await source.until(() => source.beats.at(-1)?.leases.length === 0);
});

test('worker: a settle whose answer is lost is sent again, the same', async () => {
  const source = new ScriptedSource();
  let losses = 2;
  source.after('settle', () => {
    if (losses-- > 0) throw new Error('answer lost');
  });
  await using _ = new TestWorker(source, { handlers: { quick: () => 5 } });
  const [id] = source.submit({ handler: 'quick' }) as [number];
  await source.until(() => source.settlements.length === 3);
  const [first, second, third] = source.settlements;
  assert.deepEqual(second, first);
  assert.deepEqual(third, first);
  assert.deepEqual(first?.outcome, { type: 'succeeded', exitCode: null, result: 5 });
  await source.until(() => source.beats.at(-1)?.leases.length === 0);
  assert.ok(id > 0);
});

test('worker: a refused outcome does not stop the report of others, and is reported as a failure', async () => {
  const source = new ScriptedSource();
  const gate = Promise.withResolvers<void>();
  let first = true;
  source.before('settle', async () => {
    if (!first) return;
    first = false;
    await gate.promise;
    throw new WorkronError('bad_request', 'one of them is wrong');
  });
  await using _ = new TestWorker(source, { handlers: { quick: () => 1 } });
  const ids = source.submit({ handler: 'quick' }, { handler: 'quick' }, { handler: 'quick' });
  gate.resolve();
  for (const id of ids) assert.equal((await source.outcome(id)).type, 'succeeded');
  source.settleResult = 'invalid';
  const [bad] = source.submit({ handler: 'quick' }) as [number];
  await source.until(() => source.settlements.filter(({ jobId }) => jobId === bad).length === 2);
  assert.match(JSON.stringify(source.settlements.at(-1)?.outcome), /refused its outcome/);
});

test('worker: a refused failure is reported once more, without what was thrown', async () => {
  const source = new ScriptedSource();
  source.settleResult = 'invalid';
  const broken = () => {
    throw new Fatal('no', { code: 'x', details: 1 });
  };
  await using _ = new TestWorker(source, { handlers: { broken } });
  source.submit({ handler: 'broken' });
  await source.until(() => source.settlements.length > 0);
  const beats = source.beats.length;
  await source.until(() => source.beats.length > beats + 2 && source.beats.at(-1)?.leases.length === 0);
  assert.equal(source.settlements.length, 2);
  const [first, second] = source.settlements.map(({ outcome }) => outcome);
  assert.ok(first?.type === 'failed' && first.thrown?.details === 1);
  const { thrown: _thrown, ...rest } = first;
  assert.deepEqual(second, rest);
});

test('worker: jobs of a claim that was given up are not run, and the heartbeat says that it was seen', async () => {
  const source = new ScriptedSource();
  const ran: number[] = [];
  let late = true;
  source.after('claim', () => {
    if (!late) return;
    late = false;
    throw new Error('answer lost');
  });
  source.submit({ handler: 'note' });
  await using _ = new TestWorker(source, { handlers: { note: (_input, { jobId }) => void ran.push(jobId) } });
  await source.until(() => source.beats.some(({ seenClaim, leases }) => seenClaim === 1 && leases.length === 0));
  const [id] = source.submit({ handler: 'note' }) as [number];
  await source.outcome(id);
  assert.deepEqual(ran, [id]);
  assert.deepEqual(
    source.claims.map(({ claimSeq }) => claimSeq),
    source.claims.map((_, index) => index + 1),
  );
});

test('worker: while a claim is on its way, heartbeats do not say that it was seen', async () => {
  const source = new ScriptedSource();
  const gate = Promise.withResolvers<void>();
  source.after('claim', () => gate.promise);
  source.submit({ handler: 'quick', killGraceMs: 0 });
  await using _ = new TestWorker(source, { handlers: { quick: () => new Promise(() => undefined) } });
  await source.until(() => source.claims.length === 1 && source.beats.length > 3);
  assert.ok(source.beats.every(({ seenClaim, leases }) => seenClaim === 0 && leases.length === 0));
  gate.resolve();
  await source.until(() => source.beats.at(-1)?.seenClaim === 1);
  assert.deepEqual(source.beats.at(-1)?.leases, [{ jobId: 1, attempt: 1 }]);
});

test('worker: cancel stops the command and is reported as cancelled; a nudge sends the heartbeat at once', async () => {
  const source = new ScriptedSource();
  source.heartbeatMs = 60_000;
  source.leaseMs = 600_000;
  await using _ = new TestWorker(source);
  const line = longSleep();
  const [id] = source.submit({ command: `setsid ${line}` }) as [number];
  await untilAlive(line, 1);
  source.cancel.push({ jobId: id, attempt: 1 });
  source.nudge();
  assert.deepEqual(await source.commandOutcome(id), { type: 'cancelled', error: null });
  assert.deepEqual(pidsOf(line), []);
});

test('worker: a lost lease stops the command and nothing is reported', async () => {
  const source = new ScriptedSource();
  await using running = new TestWorker(source);
  const line = longSleep();
  const [id] = source.submit({ command: line }) as [number];
  await untilAlive(line, 1);
  source.lost.push({ jobId: id, attempt: 1 });
  await untilAlive(line, 0);
  await running.worker.drain();
  assert.deepEqual(source.settlements, []);
});

test('worker: output that is not accepted any more stops the command', async () => {
  const source = new ScriptedSource();
  source.holdsOutput = false;
  await using _ = new TestWorker(source);
  const line = longSleep();
  source.submit({ command: `echo hello; ${line}` });
  await untilAlive(line, 1);
  await untilAlive(line, 0);
  assert.deepEqual(source.settlements, []);
});

test('worker: the next attempt of a job starts only when nothing is left of the one before', async () => {
  const source = new ScriptedSource();
  await using _ = new TestWorker(source);
  const line = longSleep();
  const spec = {
    command: `trap '' TERM; echo "$(pgrep -cf '^${line}')"; ${line} & wait; wait; wait`,
    killGraceMs: 700,
  };
  const [id] = source.submit(spec) as [number];
  await untilAlive(line, 1);
  source.lost.push({ jobId: id, attempt: 1 });
  await source.until(() => source.beats.at(-1)?.leases.length === 0);
  source.submitAgain(id, 2, { command: `pgrep -cf '^${line}'` });
  await source.outcome(id, 2);
  assert.equal(source.output(id, 2), '0\n');
});

test('worker: a lost attempt is stopped when the same worker claims the job again before it hears of the loss', async () => {
  const source = new ScriptedSource();
  source.heartbeatMs = 60_000;
  source.leaseMs = 600_000;
  await using running = new TestWorker(source);
  const line = longSleep();
  const [id] = source.submit({ command: line }) as [number];
  await untilAlive(line, 1);
  source.submitAgain(id, 2, { command: 'echo second' });
  assert.equal((await source.outcome(id, 2)).type, 'succeeded');
  assert.deepEqual(pidsOf(line), []);
  await running.worker.drain();
  assert.deepEqual(
    source.settlements.map(({ attempt }) => attempt),
    [2],
  );
});

test('worker: attempts of one job that are lost one after the other leave their slots and the last one runs', async () => {
  const source = new ScriptedSource();
  await using running = new TestWorker(source);
  const line = longSleep();
  const [id] = source.submit({ command: `trap '' TERM; ${line} & wait; wait; wait`, killGraceMs: 700 }) as [number];
  await untilAlive(line, 1);
  for (const attempt of [2, 3, 4]) {
    source.submitAgain(id, attempt, { command: `echo ${attempt}` });
    await source.until(() => source.beats.at(-1)?.leases.some((lease) => lease.attempt === attempt));
  }
  assert.equal((await source.outcome(id, 4)).type, 'succeeded');
  assert.deepEqual(
    source.settlements.map(({ attempt }) => attempt),
    [4],
  );
  await source.until(() => running.worker.busySlots === 0);
});

test('worker: an outcome that is not answered yet stays listed while a newer attempt of the job runs', async () => {
  const source = new ScriptedSource();
  const gate = Promise.withResolvers<void>();
  const second = Promise.withResolvers<void>();
  source.after('settle', () => gate.promise);
  let runs = 0;
  await using _ = new TestWorker(source, { handlers: { h: () => (++runs === 1 ? undefined : second.promise) } });
  const [id] = source.submit({ handler: 'h' }) as [number];
  await source.outcome(id);
  source.submitAgain(id, 2, { command: null, handler: 'h' });
  await source.until(() => source.beats.at(-1)?.leases.length === 2);
  source.lost.push({ jobId: id, attempt: 1 });
  gate.resolve();
  second.resolve();
  assert.equal((await source.outcome(id, 2)).type, 'succeeded');
});

test('worker: a worker that the scheduler forgot registers again, and drops what it held', async () => {
  const source = new ScriptedSource();
  await using running = new TestWorker(source);
  const line = longSleep();
  source.submit({ command: line });
  await untilAlive(line, 1);
  source.forgotten = true;
  await untilAlive(line, 0);
  const [id] = source.submit({ command: 'true' }) as [number];
  await source.outcome(id);
  assert.deepEqual(
    source.settlements.map(({ jobId, workerId }) => [jobId, workerId]),
    [[id, 2]],
  );
  await running.worker.drain();
  assert.deepEqual(source.left, [2]);
});

test('worker: no claim waits longer than the worker may go without an answer to a heartbeat', async () => {
  const source = new ScriptedSource();
  source.leaseMs = 3_000;
  await using _ = new TestWorker(source, { handlers: { quick: () => undefined } });
  const [claim] = await source.until(() => source.claims.length > 0 && source.claims);
  assert.ok(claim !== undefined && claim.waitMs <= 2_000, `${claim?.waitMs}`);
});

test('worker: cut off from the scheduler it stops its commands before the lease ends and reports them when it is back', async () => {
  const source = new ScriptedSource();
  source.leaseMs = 1_500;
  await using _ = new TestWorker(source);
  const [line, finishing] = [longSleep(), longSleep()];
  const [id, finisher] = source.submit(
    { command: `setsid ${line}`, killGraceMs: 60_000 },
    { command: finishing, onDisconnect: 'finish' },
  ) as [number, number];
  await untilAlive(line, 1);
  await untilAlive(finishing, 1);
  const reconnect = [
    source.before('heartbeat', () => {
      throw new Error('no route');
    }),
    source.before('settle', () => {
      throw new Error('no route');
    }),
  ];
  await untilAlive(line, 0);
  assert.equal(pidsOf(finishing).length, 1);
  assert.deepEqual(source.settlements, []);
  for (const restore of reconnect) restore();
  assert.equal((await source.outcome(id)).type, 'interrupted');
  assert.equal(pidsOf(finishing).length, 1);
  source.cancel.push({ jobId: finisher, attempt: 1 });
  assert.equal((await source.outcome(finisher)).type, 'cancelled');
});

test('worker: cut off from the scheduler, it aborts the signals of handlers and claims nothing', async () => {
  const source = new ScriptedSource();
  source.leaseMs = 900;
  const told = Promise.withResolvers<void>();
  const handlers = {
    patient: (_input: unknown, { signal }: { signal: AbortSignal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          told.resolve();
          reject(new Error('told'));
        });
      }),
  };
  await using _ = new TestWorker(source, { handlers });
  const [id] = source.submit({ handler: 'patient' }) as [number];
  await source.until(() => source.beats.at(-1)?.leases.length === 1);
  const reconnect = source.before('heartbeat', () => {
    throw new Error('no route');
  });
  await told.promise;
  assert.equal((await source.outcome(id)).type, 'interrupted');
  reconnect();
});

test('worker: it is never given more than it has, and offers again what comes free', async () => {
  const source = new ScriptedSource();
  const gate = Promise.withResolvers<void>();
  const handlers = { wait: () => gate.promise, quick: () => undefined };
  await using _ = new TestWorker(source, { handlers, profile: { slots: 3, resources: { memory_mb: 1000 } } });
  source.submit({ handler: 'wait', resources: { memory_mb: 300 } });
  const second = await source.until(() => source.claims[1]);
  assert.deepEqual([second.limit, second.offer.free], [2, { memory_mb: 700 }]);
  gate.resolve();
  await source.until(() => source.settlements.length === 1);
  source.submit({ handler: 'quick' });
  const third = await source.until(() => source.claims[2]);
  assert.deepEqual([third.limit, third.offer.free], [3, { memory_mb: 1000 }]);
});

test('worker: a claim waits for whole milliseconds, whatever the length of the lease', async () => {
  const source = new ScriptedSource();
  source.leaseMs = 1_001;
  await using _ = new TestWorker(source, { handlers: { quick: () => 1 } });
  await source.until(() => source.claims.length > 0);
  const waits = source.claims.map(({ waitMs }) => waitMs);
  assert.ok(
    waits.every((waitMs) => Number.isInteger(waitMs) && waitMs <= 667),
    waits.join(' '),
  );
});

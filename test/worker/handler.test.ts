/** Jobs that are functions. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Cancel, Fatal, RetryAfter, Snooze } from '../../src/core/handler-errors.ts';
import { ScriptedSource } from '../kit/scripted-source.ts';
import { TestWorker } from '../kit/worker.ts';

test('worker: a handler gets its input and answers with its result, at once or later', async () => {
  const source = new ScriptedSource();
  const handlers = {
    now: (input: unknown) => ({ twice: (input as number) * 2, at: new Date(0) }),
    later: async (input: unknown) => (input as number) * 3,
  };
  await using _ = new TestWorker(source, { handlers });
  const [now, later] = source.submit({ handler: 'now', input: 4 }, { handler: 'later', input: 4 }) as [number, number];
  const result = { twice: 8, at: '1970-01-01T00:00:00.000Z' };
  assert.deepEqual(await source.outcome(now), { type: 'succeeded', exitCode: null, result });
  assert.deepEqual(await source.outcome(later), { type: 'succeeded', exitCode: null, result: 12 });
});

test('worker: what a handler throws is its outcome', async () => {
  const source = new ScriptedSource();
  const thrown: Record<string, unknown> = {
    plain: new TypeError('broken'),
    text: 'broken',
    retry: new RetryAfter('90s', 'rate limited'),
    snooze: new Snooze(500),
    fatal: new Fatal('no such customer'),
    cancel: new Cancel('nothing to do'),
  };
  const handlers = {
    now: (input: unknown) => {
      throw thrown[input as string];
    },
    big: () => 'x'.repeat(1_100_000),
    circle: () => 1n,
  };
  await using _ = new TestWorker(source, { handlers });
  const names = Object.keys(thrown);
  const ids = source.submit(
    ...names.map((input) => ({ handler: 'now', input })),
    { handler: 'big' },
    { handler: 'circle' },
  );
  const [plain, text, retry, snooze, fatal, cancel, big, circle] = await Promise.all(
    ids.map((id) => source.outcome(id)),
  );
  assert.match(JSON.stringify(plain), /"type":"failed".*TypeError: broken.*handler\.test/);
  assert.deepEqual(text, { type: 'failed', exitCode: null, signal: null, error: 'broken' });
  assert.equal(retry?.type === 'failed' && retry.retryAfterMs, 90_000);
  assert.deepEqual(snooze, { type: 'snoozed', delayMs: 500 });
  assert.equal(fatal?.type === 'failed' && fatal.fatal, true);
  assert.deepEqual(cancel, { type: 'cancelled', error: 'nothing to do' });
  assert.match(JSON.stringify(big), /larger than 1 MiB/);
  assert.match(JSON.stringify(circle), /not JSON/);
});

test('worker: the signal of a handler aborts at its timeout, and its log lines are its output', async () => {
  const source = new ScriptedSource();
  const handlers = {
    patient: (_input: unknown, { signal, log }: { signal: AbortSignal; log: (line: string) => void }) =>
      new Promise((_resolve, reject) => {
        log('waiting');
        signal.addEventListener('abort', () => reject(new Error('stopped')));
      }),
  };
  await using _ = new TestWorker(source, {
    handlers: {
      patient: (input, context) =>
        handlers.patient(input, { signal: context.signal, log: (line) => context.log(line) }),
    },
  });
  const [id, cancelled] = source.submit({ handler: 'patient', timeoutMs: 50 }, { handler: 'patient' }) as [
    number,
    number,
  ];
  const outcome = await source.outcome(id);
  assert.match(JSON.stringify(outcome), /"timed_out".*timed out after 50ms; set timeout/);
  assert.equal(source.output(id), 'waiting\n');
  source.cancel.push({ jobId: cancelled, attempt: 1 });
  assert.equal((await source.outcome(cancelled)).type, 'cancelled');
});

test('worker: a handler that ignores its signal is settled after the grace and keeps its slot', async () => {
  const source = new ScriptedSource();
  const gate = Promise.withResolvers<void>();
  await using running = new TestWorker(source, { handlers: { deaf: () => gate.promise }, profile: { slots: 2 } });
  const [id] = source.submit({ handler: 'deaf', timeoutMs: 20, killGraceMs: 20 }) as [number];
  assert.equal((await source.outcome(id)).type, 'timed_out');
  assert.deepEqual([running.worker.stuckSlots, running.worker.busySlots], [1, 1]);
  gate.resolve();
  await gate.promise;
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual([running.worker.stuckSlots, running.worker.busySlots], [0, 0]);
});

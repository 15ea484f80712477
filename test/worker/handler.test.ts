/** Jobs that are functions. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Cancel, Fatal, RateLimited, RetryAfter, Snooze } from '../../src/core/handler-errors.ts';
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
    limited: new RateLimited('30s', { key: 'api', reason: 'status 429' }),
    allLimited: new RateLimited(1_000),
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
  const [plain, text, retry, snooze, fatal, cancel, limited, allLimited, big, circle] = await Promise.all(
    ids.map((id) => source.outcome(id)),
  );
  assert.match(JSON.stringify(plain), /"type":"failed".*TypeError: broken.*handler\.test/);
  assert.deepEqual(text, { type: 'failed', exitCode: null, signal: null, error: 'broken' });
  assert.equal(retry?.type === 'failed' && retry.retryAfterMs, 90_000);
  assert.deepEqual(snooze, { type: 'snoozed', delayMs: 500 });
  assert.equal(fatal?.type === 'failed' && fatal.fatal, true);
  assert.deepEqual(cancel, { type: 'cancelled', error: 'nothing to do' });
  const closes = { key: 'api' };
  assert.deepEqual(limited, { type: 'snoozed', delayMs: 30_000, error: 'status 429', closes });
  assert.deepEqual(allLimited, { type: 'snoozed', delayMs: 1_000, closes: 'all' });
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
  assert.match(JSON.stringify(outcome), /"timed_out".*timed out after 50ms"/);
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

/** Values that break code which looks at them. */
const HOSTILE: Record<string, () => unknown> = {
  'null-prototype': () => Object.create(null),
  'plain object': () => ({ code: 'E_PAY' }),
  'revoked proxy': () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    return proxy;
  },
  'throwing proxy': () => {
    const trap = () => {
      throw new TypeError('trapped');
    };
    return new Proxy(new Error('inner'), { get: trap, getPrototypeOf: trap, has: trap, ownKeys: trap });
  },
  'throwing stack': () =>
    Object.defineProperty(new Error('no stack'), 'stack', {
      get() {
        throw Object.create(null);
      },
    }),
  'number as stack': () => Object.assign(new Error('odd stack'), { stack: 7 }),
  'object as message': () => Object.assign(new Fatal('x'), { stack: undefined, message: Object.create(null) }),
  'throwing delay': () =>
    Object.defineProperty(new Snooze(1), 'delayMs', {
      get() {
        throw new Error('no delay');
      },
    }),
  'cause circle': () => {
    const error = new Error('around');
    error.cause = error;
    return error;
  },
  symbol: () => Symbol('why'),
  undefined: () => undefined,
  null: () => null,
  bigint: () => 10n,
  function: () => () => 'f',
};

/** The method of a promise that others call. */
const METHOD = ['then'].join('');

test('worker: whatever a handler throws, at once or later, is a failure, and the worker goes on', async () => {
  const source = new ScriptedSource();
  const thrown = (input: unknown) => HOSTILE[input as string]?.();
  const handlers = {
    now: (input: unknown) => {
      throw thrown(input);
    },
    later: async (input: unknown) => {
      await Promise.resolve();
      throw thrown(input);
    },
    result: (input: unknown) => ({
      toJSON() {
        throw thrown(input);
      },
    }),
    broken: (input: unknown) =>
      Object.defineProperty(Promise.resolve(), 'constructor', {
        get() {
          throw thrown(input);
        },
      }),
    method: (input: unknown) =>
      Object.defineProperty(Promise.resolve(), METHOD, {
        value() {
          throw thrown(input);
        },
      }),
    fine: () => 'fine',
  };
  await using running = new TestWorker(source, { handlers, profile: { slots: 1 } });
  for (const input of Object.keys(HOSTILE)) {
    for (const handler of ['now', 'later', 'result', 'broken', 'method'] as const) {
      const [id] = source.submit({ handler, input }) as [number];
      const outcome = await source.outcome(id);
      assert.equal(outcome.type, 'failed', `${handler} ${input}`);
      assert.ok(outcome.type === 'failed' && outcome.error.length > 0, `${handler} ${input} has a text`);
    }
  }
  const [id] = source.submit({ handler: 'fine' }) as [number];
  assert.equal((await source.outcome(id)).type, 'succeeded');
  assert.deepEqual([running.worker.stuckSlots, running.worker.busySlots], [0, 0]);
});

test('worker: the text of a failure shows what was thrown, and its causes', async () => {
  const source = new ScriptedSource();
  const handlers = {
    object: () => {
      throw HOSTILE['plain object']?.();
    },
    caused: () => {
      throw new Error('order failed', { cause: new TypeError('card refused', { cause: { code: 51 } }) });
    },
  };
  await using _ = new TestWorker(source, { handlers });
  const [object, caused] = source.submit({ handler: 'object' }, { handler: 'caused' }) as [number, number];
  const textOf = async (id: number) => ((await source.outcome(id)) as { error: string }).error;
  assert.equal(await textOf(object), "{ code: 'E_PAY' }");
  assert.match(
    await textOf(caused),
    /^Error: order failed\n.*caused by: TypeError: card refused\n.*caused by: \{ code: 51 \}$/s,
  );
});

test('worker: resources that become free end the wait of the claim under way, and the next claim offers them', async () => {
  const source = new ScriptedSource();
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const handlers = { uses: (input: unknown) => gates[input as number]?.promise, other: () => null };
  const profile = { slots: 4, resources: { gpu: 2 } };
  await using _ = new TestWorker(source, { handlers, profile, claimWaitMs: 60_000 });
  const [first] = source.submit({ handler: 'uses', input: 0, resources: { gpu: 2 } }) as [number];
  const claimOf = (gpu: number) =>
    source.claims.findLast(({ offer, waitMs }) => offer.free['gpu'] === gpu && waitMs > 0);
  const waiting = await source.until(() => claimOf(0));
  // A job that takes no resources frees none: the claim goes on waiting.
  const [plain] = source.submit({ handler: 'other' }) as [number];
  await source.outcome(plain);
  assert.deepEqual(source.endedWaits, []);
  const open = await source.until(() => source.claims.findLast(({ claimSeq }) => claimSeq > waiting.claimSeq));
  gates[0]?.resolve();
  await source.outcome(first);
  await source.until(() =>
    source.claims.find(({ claimSeq, offer }) => claimSeq > open.claimSeq && offer.free['gpu'] === 2),
  );
  assert.deepEqual(source.endedWaits.length, 1);
});

test('worker: a handler cannot change its env, whether the job has variables or not', async () => {
  const source = new ScriptedSource();
  const handlers = {
    change: (_: unknown, { env }: { env: Readonly<Record<string, string>> }) => {
      (env as Record<string, string>)['ADDED'] = 'x';
    },
  };
  await using _ = new TestWorker(source, { handlers });
  for (const id of source.submit({ handler: 'change' }, { handler: 'change', env: { A: '1' } })) {
    assert.match(JSON.stringify(await source.outcome(id)), /TypeError: .*not extensible/);
  }
});

/** Durable functions: what has a name is not done again, and waiting gives the slot back. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { type JobContext, job, Snooze, StepFailed } from '../../src/index.ts';
import { openTestKit } from '../../src/testing.ts';

/** A job whose function is `run`, and a kit that runs it. */
async function kitOf(run: (context: JobContext) => unknown, options: { maxAttempts?: number; rerun?: 'never' } = {}) {
  const type = job('durable', { ...options, backoff: { type: 'none' }, run: (_: null, context) => run(context) });
  const kit = await openTestKit({ jobs: [type] });
  const handle = await kit.workron.submit(type, null);
  return {
    kit,
    id: handle.id,
    /** Runs attempts, and advances the clock while the job sleeps. */
    async toEnd() {
      for (let attempts = 0; attempts < 50; attempts += 1) {
        await kit.runAll();
        const now = await kit.workron.job(handle.id);
        if (!['scheduled', 'pending', 'running'].includes(now.status)) return now;
        await kit.advanceTo(new Date(Math.max(Date.parse(now.runAt), (await kit.now()).getTime())));
      }
      return assert.fail('the job does not end');
    },
    [Symbol.asyncDispose]: () => kit[Symbol.asyncDispose](),
  };
}

test('durable: after a failure the function runs again from its top, and a finished step is not done again', async () => {
  const ran: string[] = [];
  await using given = await kitOf(async ({ step, attempt }) => {
    const charge = await step('charge', ({ key }) => {
      ran.push(`charge ${key}`);
      return { id: 7, at: new Date(0) };
    });
    await step('nothing', () => undefined);
    ran.push(`body ${attempt}`);
    if (attempt === 1) throw new Error('crash');
    return charge;
  });
  const ended = await given.toEnd();
  assert.deepEqual(ran, [`charge ${given.id}:charge`, 'body 1', 'body 2']);
  assert.deepEqual([ended.status, ended.result], ['done', { id: 7, at: '1970-01-01T00:00:00.000Z' }]);
});

test('durable: a step gives the same value when it runs and when it is read', async () => {
  const seen: unknown[] = [];
  await using given = await kitOf(async ({ step, attempt }) => {
    seen.push(await step('object', () => ({ z: 1, a: undefined, b: [undefined, 'ü'] })));
    seen.push(await step('null', () => null), await step('none', () => {}));
    if (attempt === 1) throw new Error('again');
  });
  await given.toEnd();
  assert.equal(JSON.stringify(seen.slice(0, 3)), JSON.stringify(seen.slice(3)));
  assert.deepEqual(seen.slice(0, 3), [{ z: 1, b: [null, 'ü'] }, null, undefined]);
});

test('durable: a sleep gives the slot back, and no catch or finally runs because of it', async () => {
  const ran: string[] = [];
  await using given = await kitOf(async ({ sleep, step, attempt }) => {
    try {
      await step('before', () => ran.push('before'));
      await sleep('nap', '7d');
      ran.push(`after ${attempt}`);
    } catch {
      ran.push('catch');
    } finally {
      ran.push(`finally ${attempt}`);
    }
  });
  const [suspended] = await given.kit.runAll();
  assert.equal(suspended?.status, 'scheduled');
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.deepEqual(ran, ['before']);
  await given.kit.advance('6d');
  assert.deepEqual(await given.kit.runAll(), []);
  await given.kit.advance('1d');
  assert.equal((await given.kit.runAll())[0]?.status, 'done');
  assert.deepEqual(ran, ['before', 'after 2', 'finally 2']);
});

test('durable: after a suspension no call of the old run settles or writes', async () => {
  const ran: string[] = [];
  let old: JobContext | undefined;
  await using given = await kitOf(async (context) => {
    old ??= context;
    await context.sleep('nap', '1h');
  });
  await given.kit.runAll();
  const { step, sleep, submit } = old ?? assert.fail();
  const late = [step('late', () => ran.push('late')), sleep('late nap', 1), submit({} as never)];
  const settled = await Promise.race([
    Promise.allSettled(late),
    new Promise((resolve) => setTimeout(resolve, 30, 'open')),
  ]);
  assert.equal(settled, 'open');
  assert.deepEqual(ran, []);
  assert.equal((await given.toEnd()).status, 'done');
});

test('durable: while a step is open nothing is suspended', async () => {
  const attempts: number[] = [];
  await using given = await kitOf(async ({ step, sleep, attempt }) => {
    attempts.push(attempt);
    const [value] = await Promise.all([
      step('slow', () => new Promise((resolve) => setTimeout(resolve, 50, 'slow'))),
      sleep('nap', '1h'),
    ]);
    return value;
  });
  await given.kit.runAll();
  const ended = await given.toEnd();
  assert.deepEqual([ended.status, ended.result, attempts], ['done', 'slow', [1, 2]]);
});

test('durable: a step is tried again, and throws StepFailed into the function when it has no tries left', async () => {
  const tries: number[] = [];
  let caught: unknown;
  await using given = await kitOf(async ({ step }) => {
    try {
      await step(
        'flaky',
        ({ attempt }) => {
          tries.push(attempt);
          throw Object.assign(new TypeError('no luck'), { code: 'E_LUCK' });
        },
        { retry: 2, backoff: { base: '1m' } },
      );
    } catch (error) {
      caught = error;
      return await step('undo', () => 'undone');
    }
    return 'never';
  });
  const ended = await given.toEnd();
  assert.deepEqual([ended.status, ended.result, ended.failures, tries], ['done', 'undone', 0, [1, 2, 3]]);
  assert.ok(caught instanceof StepFailed);
  assert.deepEqual([caught.step, caught.thrown.name, caught.thrown.code], ['flaky', 'TypeError', 'E_LUCK']);
});

test('durable: an error of a step that nobody catches ends the job, and a retry by a person tries the step again', async () => {
  let broken = true;
  const ran: string[] = [];
  await using given = await kitOf(async ({ step }) => {
    await step('good', () => ran.push('good'));
    await step('bad', () => {
      ran.push('bad');
      if (broken) throw new Error('down');
    });
  });
  const failed = await given.toEnd();
  assert.deepEqual([failed.status, failed.reason], ['failed', 'step']);
  assert.match(failed.error ?? '', /step bad: down/);
  broken = false;
  await given.kit.workron.retry(given.id);
  assert.equal((await given.toEnd()).status, 'done');
  assert.deepEqual(ran, ['good', 'bad', 'bad']);
});

test('durable: a step with a timeout is aborted, and fails', async () => {
  await using given = await kitOf(async ({ step }) => {
    await step(
      'hangs',
      ({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
      { timeout: 20 },
    );
  });
  assert.match((await given.toEnd()).error ?? '', /timed out after/);
});

test('durable: what cannot be is refused and says why', async () => {
  const cases: [RegExp, (context: JobContext) => unknown][] = [
    [/asked for twice/, async ({ step }) => (await step('a', () => 1), await step('a', () => 2))],
    [/inside of the step a/, ({ step }) => step('a', () => step('b', () => 1))],
    [/inside of the step a/, ({ step, sleep }) => step('a', () => sleep('b', 1))],
    [/while the step a was open/, ({ step }) => void step('a', () => new Promise(() => undefined))],
    [/cannot snooze/, async ({ step }) => (await step('a', () => 1), Promise.reject(new Snooze('1m')))],
    [/checkpoints: not possible/, async ({ step, checkpoint }) => (await step('a', () => 1), await checkpoint(1))],
    [/checkpoints cannot have steps/, async ({ step, checkpoint }) => (await checkpoint(1), await step('a', () => 1))],
    [/complete: not possible/, async ({ step, complete }) => (await step('a', () => 1), await complete(() => []))],
    [/name of a step/, ({ step }) => step('', () => 1)],
    [/name of a step/, ({ step }) => step('x'.repeat(257), () => 1)],
    [/name of a step/, ({ step }) => step('[1]', () => 1)],
    [/name of a step/, ({ step }) => step(['a', {} as never], () => 1)],
    [/expected a duration/, ({ sleep }) => sleep('a', 'soon')],
    [/larger than 1/, ({ step }) => step('a', () => 'x'.repeat(1024 * 1024))],
    [/is not JSON/, ({ step }) => step('a', () => 1n as never)],
  ];
  for (const [expected, run] of cases) {
    await using given = await kitOf(async (context) => await run(context));
    const ended = await given.toEnd();
    assert.equal(ended.status, 'failed', String(run));
    assert.match(ended.error ?? '', expected);
    assert.equal(ended.attempts, 1, 'it is not tried again');
  }
  await using never = await kitOf(({ step }) => step('a', () => 1), { rerun: 'never' });
  assert.match((await never.toEnd()).error ?? '', /rerun: never/);
});

test('durable: a stored name of another kind, or a result that does not fit, is step_changed', async () => {
  for (const changed of [
    ({ sleep }: JobContext) => sleep('a', 1),
    ({ step }: JobContext) => step('a', () => 1, { as: z.object({ n: z.string() }) }),
  ]) {
    await using given = await kitOf(
      async (context) => {
        if (context.attempt > 1) return await changed(context);
        await context.step('a', () => ({ n: 1 }));
        throw new Error('a deployment');
      },
      { maxAttempts: 2 },
    );
    const ended = await given.toEnd();
    assert.deepEqual([ended.status, ended.thrown?.code], ['failed', 'step_changed']);
    assert.match(ended.error ?? '', /step a has changed/);
  }
});

test('durable: a stored name that the function no longer asks for is reported, and no error', async () => {
  await using given = await kitOf(async ({ step, attempt }) => {
    if (attempt === 1) {
      await step(['page', 1], () => 1);
      throw new Error('a deployment');
    }
    return await step('new', () => 'new');
  });
  const ended = await given.toEnd();
  assert.deepEqual([ended.status, ended.result, ended.stepsUnused], ['done', 'new', ['["page",1]']]);
});

test('durable: a thousand steps in a loop, of which most are read on demand', async () => {
  let ran = 0;
  await using given = await kitOf(async ({ step, attempt }) => {
    let sum = 0;
    for (let page = 0; page < 300; page += 1) {
      const { size } = await step(['page', page], () => {
        ran += 1;
        return { size: 1, text: 'x'.repeat(1_000) };
      });
      sum += size;
    }
    if (attempt === 1) throw new Error('crash');
    return sum;
  });
  assert.equal((await given.toEnd()).result, 300);
  assert.equal(ran, 300);
});

test('test kit: crashEverywhere runs a function with a crash after each write, and returns their number', async () => {
  let calls = 0;
  const good = job('good', {
    async run(n: number, { step, sleep }) {
      let sum = 0;
      for (let place = 0; place < n; place += 1) {
        sum += await step(['step', place], () => {
          calls += 1;
          return place;
        });
      }
      await sleep('nap', '1d');
      await step('flaky', ({ attempt }) => (attempt === 1 ? Promise.reject(new Error('no')) : 1), { retry: 1 });
      return sum;
    },
  });
  await using kit = await openTestKit({ jobs: [good] });
  assert.equal(await kit.crashEverywhere(good, 3), 6);
  assert.equal(calls, 3 * 7, 'no finished step is done again');
});

test('test kit: crashEverywhere finds what differs after a crash', async () => {
  let runs = 0;
  const names = job('names', {
    run: async (_: null, { step }) => {
      runs += 1;
      await step(`name ${runs}`, () => 1);
      await step('end', () => 1);
    },
  });
  const ends = job('ends', {
    run: async (_: null, { step, attempt }) => (await step('a', () => 1), await step('b', () => 2), attempt),
  });
  await using kit = await openTestKit({ jobs: [names, ends] });
  await assert.rejects(kit.crashEverywhere(names, null), /no longer asked for the step name/);
  await assert.rejects(
    kit.crashEverywhere(ends, null),
    /crash after write 1, of the step a: expected the end .*1.* got .*2/,
  );
});

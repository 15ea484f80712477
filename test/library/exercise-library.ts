/** What an application may expect of the library, wherever its jobs live. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type } from 'arktype';
import * as v from 'valibot';
import { z } from 'zod';
import { toWire } from '../../src/api/case.ts';
import type { Waiting } from '../../src/api/waiting.ts';
import { Fatal, type JobFailed, job, RetryAfter, Stopped, type Workron } from '../../src/index.ts';
import { eventually } from '../kit/eventually.ts';
import { waitsFor } from '../kit/waits-for.ts';
import { exerciseApi } from './exercise-api.ts';
import { exerciseSchedules } from './exercise-schedules.ts';

export interface TestLibrary extends AsyncDisposable {
  workron: Workron;
  /** Another process's view of the same jobs, where there can be one. */
  other?: Workron;
}

const double = job('double', { input: z.object({ n: z.number() }), run: ({ n }) => ({ n: n * 2 }) });

export function exerciseLibrary(name: string, open: () => Promise<TestLibrary>): void {
  describe(`library: ${name}`, () => {
    exerciseApi(open);
    exerciseSchedules(open);

    test('a submitted job runs, and its handle answers with its result', async () => {
      await using it = await open();
      const { workron } = it;
      await workron.start({ jobs: [double], concurrency: 5 });
      const handle = await workron.submit(double, { n: 21 });
      assert.deepEqual(await handle.result(), { n: 42 });
      const all = await workron.submitAll(double, [{ n: 1 }, { n: 2 }, { n: 3 }], { priority: 5, tags: ['t'] });
      assert.deepEqual(await Promise.all(all.map((one) => one.result())), [{ n: 2 }, { n: 4 }, { n: 6 }]);
      const wire = await (all[0] as (typeof all)[0]).job();
      assert.deepEqual([wire.priority, wire.tags, wire.handler, wire.status], [5, ['t'], 'double', 'done']);
    });

    test('the handler gets what its schema makes of the input, whichever library made the schema', async () => {
      await using it = await open();
      const { workron } = it;
      const seen: unknown[] = [];
      const jobs = [
        job('zod', { input: z.object({ at: z.coerce.date() }), run: ({ at }) => void seen.push(at.getTime()) }),
        job('valibot', {
          input: v.object({ n: v.pipe(v.string(), v.transform(Number)) }),
          run: ({ n }) => void seen.push(n),
        }),
        job('arktype', { input: type({ n: 'string.integer.parse' }), run: ({ n }) => void seen.push(n) }),
        job('later', {
          input: z.object({ n: z.number().refine(async (n) => n > 0) }),
          run: ({ n }) => void seen.push(n),
        }),
      ] as const;
      await workron.start({ jobs });
      await (await workron.submit(jobs[0], { at: new Date(5) })).result();
      await (await workron.submit(jobs[1], { n: '6' })).result();
      await (await workron.submit(jobs[2], { n: '7' })).result();
      await (await workron.submit(jobs[3], { n: 8 })).result();
      assert.deepEqual(seen, [5, 6, 7, 8]);
      await assert.rejects(workron.submit(jobs[3], { n: -1 }), { code: 'bad_request' });
    });

    test('limits and rates may depend on the input, and a submission may have its own', async () => {
      await using it = await open();
      const { workron } = it;
      const perCustomer = job('per-customer', {
        input: z.object({ customer: z.string() }),
        limits: ({ customer }) => [{ key: `customer:${customer}`, max: 1 }],
        rates: [{ key: 'all', limit: 100, per: '1s' }],
        run: ({ customer }) => customer,
      });
      const a = await workron.submit(perCustomer, { customer: 'a' });
      const b = await workron.submit(perCustomer, { customer: 'b' });
      const own = await workron.submit(perCustomer, { customer: 'c' }, { limits: [{ key: 'own', max: 2 }] });
      const read = await Promise.all([a, b, own].map((handle) => handle.job()));
      assert.deepEqual(
        read.map((one) => one.limits),
        [[{ key: 'customer:a', max: 1 }], [{ key: 'customer:b', max: 1 }], [{ key: 'own', max: 2 }]],
      );
      assert.deepEqual(read[0]?.rates, [{ key: 'all', limit: 100, per: 1_000, burst: 0 }]);
      await workron.start({ jobs: [perCustomer], concurrency: 5 });
      assert.equal(await own.result(), 'c');
      assert.equal(await b.result(), 'b');
    });

    test('a gang runs all its members; each knows its gang, and the handle has them all', async () => {
      await using it = await open();
      const { workron } = it;
      const train = job('train', {
        gang: { size: 2, spread: 'pack', timeout: '1m' },
        run: (input: string, { gang }) => ({ input, gang }),
      });
      const alone = job('alone', { run: (_: unknown, { gang }) => gang });
      await assert.rejects(workron.submit(train, 'x', { gang: { size: 0 } }), /^WorkronError: gang\.size: expected/);
      await assert.rejects(
        workron.submit(train, 'x', { gang: { size: 2, min: 1, onMemberFailure: 'continue' } }),
        /^WorkronError: gang\.min: .*no min with continue/,
      );
      await assert.rejects(
        workron.submit(train, 'x', { gang: { size: 1_000, failFast: true } }),
        /^WorkronError: gang: all online workers together have no places for a gang of 1000/,
      );
      const [handle, more] = await workron.submitAll(train, ['a', 'b']);
      const fewer = await workron.submit(train, 'c', { gang: { size: 9, min: 1 } });
      const single = await workron.submit(alone, null);
      await workron.start({ jobs: [train, alone], concurrency: 4 });
      const results = await Promise.all(handle?.members.map((member) => member.result()) ?? []);
      assert.deepEqual(
        results.map(({ input, gang }) => [input, gang?.rank, gang?.size, gang?.hosts.length]),
        [0, 1].map((rank) => ['a', rank, 2, 2]),
      );
      assert.ok(results[0]?.gang?.id !== undefined && results[0].gang.id === results[1]?.gang?.id);
      assert.equal((await more?.result())?.input, 'b', 'the handle of a gang is that of rank 0');
      const { gang } = await fewer.result();
      assert.ok(gang !== null && gang.rank === 0 && gang.size < 9 && gang.hosts.length === gang.size);
      assert.equal((await fewer.members[8]?.ended())?.status, 'skipped');
      assert.equal(await single.result(), null);
      assert.deepEqual([single.members, handle?.members.length, handle?.members[0]], [[single], 2, handle]);
    });

    test('wrong input is refused before anything is stored', async () => {
      await using it = await open();
      const { workron } = it;
      const wrong = { n: 'x' } as unknown as { n: number };
      await assert.rejects(workron.submit(double, wrong), /the input of double: \/n/);
      await assert.rejects(workron.submitAll(double, [{ n: 1 }, wrong]), { code: 'bad_request' });
      const free = job('free', { run: (input: unknown) => input });
      await assert.rejects(workron.submit(free, { n: 1n }), /not JSON/);
      await assert.rejects(workron.submit(free, 'a\0b'), /NUL/);
      await assert.rejects(workron.submit(free, null, { delay: 'soon' }), { code: 'bad_request' });
      await assert.rejects(workron.submit(free, null, { prioritty: 1 } as object), /did you mean.*priority/i);
      await assert.rejects(workron.submit(free, null, { maxAttempts: 0 }), {
        code: 'bad_request',
        message: 'maxAttempts: expected a whole number from 1 to 10000',
        details: { errors: [{ pointer: '/maxAttempts', detail: 'expected a whole number from 1 to 10000' }] },
      });
      const wrongKey = { key: 'k', onConflict: 'never' as 'reject' };
      await assert.rejects(
        workron.submit(free, null, { unique: wrongKey }),
        /^WorkronError: unique\.onConflict: expected/,
      );
      await assert.rejects(
        workron.submit(free, null, { resources: { my_gpu: -1 } }),
        /^WorkronError: resources\.my_gpu: /,
      );
      await assert.rejects(workron.submit(free, 'x'.repeat(1_100_000)), { code: 'payload_too_large' });
      await assert.rejects(workron.job('1'), { code: 'job_not_found' });
    });

    test('wrong options of a job are refused before a worker starts', async () => {
      await using it = await open();
      const { workron } = it;
      const wrong = job('wrong', { timeout: 'soon', run: () => null });
      await assert.rejects(workron.start({ jobs: [wrong] }), {
        code: 'bad_request',
        message: /^the job wrong: timeout: expected a duration/,
      });
      assert.throws(() => job('unknown', { maxAttempt: 1, run: () => null } as object), {
        code: 'bad_request',
        message: 'maxAttempt: unknown option; did you mean maxAttempts?',
      });
      await workron.start({ jobs: [double] });
      assert.deepEqual(await (await workron.submit(double, { n: 2 })).result(), { n: 4 });
    });

    test('a failure reaches who waits, with its reason; a RetryAfter is tried again', async () => {
      await using it = await open();
      const { workron } = it;
      const jobs = [
        job('fatal', {
          run: () => {
            throw new Fatal('no such customer');
          },
        }),
        job('again', {
          run: (_: unknown, { attempt }) => {
            if (attempt < 3) throw new RetryAfter(1);
            return attempt;
          },
        }),
      ] as const;
      await workron.start({ jobs });
      await assert.rejects((await workron.submit(jobs[0])).result(), (error: JobFailed) => {
        assert.match(error.message, /^job \d+ \(fatal\) failed: .*no such customer/);
        return error.reason === 'fatal' && error.status === 'failed';
      });
      assert.equal(await (await workron.submit(jobs[1])).result(), 3);
    });

    test('who waits for a failed job gets the errors of an AggregateError', async () => {
      await using it = await open();
      const refused = Object.assign(new Error('connection refused'), { code: 'ECONNREFUSED' });
      const fetchAny = job('fetch-any', {
        maxAttempts: 1,
        run: () => Promise.any([Promise.reject(refused), Promise.reject(new TypeError('no answer'))]),
      });
      await it.workron.start({ jobs: [fetchAny] });
      await assert.rejects((await it.workron.submit(fetchAny)).result(), (error: JobFailed) => {
        const cause = error.cause as AggregateError;
        assert.ok(cause instanceof AggregateError);
        assert.deepEqual(
          cause.errors.map(({ name, message, code }) => [name, message, code]),
          [
            ['Error', 'connection refused', 'ECONNREFUSED'],
            ['TypeError', 'no answer', undefined],
          ],
        );
        assert.match(
          error.job.error ?? '',
          /errors\[0\]: Error: connection refused[^]*errors\[1\]: TypeError: no answer/,
        );
        return true;
      });
    });

    test('a job finds its parents by the ids of their handles', async () => {
      await using it = await open();
      const { workron } = it;
      const first = job('first', { run: () => ({ rows: 7 }) });
      const second = job('second', { run: (_: unknown, { parents }) => parents });
      await workron.start({ jobs: [first, second] });
      const parent = await workron.submit(first);
      const parents = await (await workron.submit(second, null, { dependsOn: [parent] })).result();
      assert.deepEqual(parents, [{ jobId: parent.id, key: parent.id, status: 'done', result: { rows: 7 } }]);
    });

    test('a result that JSON cannot hold fails the job without another attempt', async () => {
      await using it = await open();
      const { workron } = it;
      const cyclic: unknown[] = [];
      cyclic.push(cyclic);
      const results: Record<string, unknown> = { bigint: { n: 1n }, cyclic, function: () => 1, symbol: Symbol('x') };
      const returns = job('returns', { maxAttempts: 3, run: async (what: string): Promise<unknown> => results[what] });
      await workron.start({ jobs: [returns] });
      for (const what of Object.keys(results)) {
        const ended = await (await workron.submit(returns, what)).ended();
        assert.deepEqual([ended.status, ended.reason, ended.attempts], ['failed', 'fatal', 1], what);
        assert.match(ended.error ?? '', /^the result is not JSON: /);
      }
    });

    test('who waits for a failed job gets the code, the details and the causes of its error', async () => {
      await using it = await open();
      const { workron } = it;
      class CardError extends Error {
        override readonly name = 'CardError';
        readonly code = 'E_CARD';
      }
      const jobs = [
        job('pay', {
          run: (): void => {
            const cause = new CardError('refused', { cause: new TypeError('no answer') });
            throw new Fatal('not paid', { code: 'not_paid', details: { order: 7 }, cause });
          },
        }),
        job('plain', {
          maxAttempts: 1,
          run: (): void => {
            throw { code: 'E' };
          },
        }),
        job('too-much', {
          maxAttempts: 1,
          run: (): void => {
            throw new Fatal('long', { code: 'x', details: 'x'.repeat(10_000) });
          },
        }),
      ] as const;
      await workron.start({ jobs });
      await assert.rejects((await workron.submit(jobs[0])).result(), (error: JobFailed) => {
        assert.deepEqual([error.code, error.details, error.reason], ['not_paid', { order: 7 }, 'fatal']);
        const fatal = error.cause as Error;
        const card = fatal.cause as Error & { code: string };
        const innermost = card.cause as Error;
        assert.deepEqual([fatal.name, fatal.message], ['Fatal', 'not paid']);
        assert.deepEqual([card.name, card.message, card.code], ['CardError', 'refused', 'E_CARD']);
        assert.deepEqual([innermost.name, innermost.message], ['TypeError', 'no answer']);
        return true;
      });
      await assert.rejects((await workron.submit(jobs[1])).result(), (error: JobFailed) => {
        assert.match(error.message, /failed: \{ code: 'E' \}$/);
        return error.code === null && error.details === null && error.cause === undefined;
      });
      await assert.rejects((await workron.submit(jobs[2])).result(), { code: 'x', details: null });
    });

    test('the signal of a cancelled handler has the reason', async () => {
      await using it = await open();
      const { workron } = it;
      const reasons: unknown[] = [];
      const started = Promise.withResolvers<void>();
      const patient = job('patient', {
        run: (_: unknown, { signal }) =>
          new Promise((_resolve, reject) => {
            signal.addEventListener('abort', () => {
              reasons.push(signal.reason instanceof Stopped && signal.reason.reason);
              reject(signal.reason as Error);
            });
            started.resolve();
          }),
      });
      await workron.start({ jobs: [patient] });
      const handle = await workron.submit(patient);
      await started.promise;
      await handle.cancel();
      assert.equal((await handle.ended()).status, 'cancelled');
      await assert.rejects(handle.result(), { name: 'JobFailed', status: 'cancelled' });
      const late = await workron.submit(patient, null, { timeout: 20, maxAttempts: 1 });
      assert.equal((await late.ended()).reason, 'timeout');
      assert.deepEqual(reasons, ['cancelled', 'timeout']);
    });

    test('what a handler logs is the job’s log; its variables arrive', async () => {
      await using it = await open();
      const { workron } = it;
      const loud = job('loud', {
        run: (_: unknown, { log, env }) => {
          log('one');
          log('two');
          return env['WHO'] ?? null;
        },
      });
      await workron.start({ jobs: [loud] });
      const handle = await workron.submit(loud, null, { env: { WHO: 'ada' } });
      assert.equal(await handle.result(), 'ada');
    });

    test('progress is shown on the job while it runs; a later attempt goes on from the last checkpoint', async () => {
      await using it = await open();
      const { workron } = it;
      const gate = Promise.withResolvers<void>();
      const walk = job('walk', {
        maxAttempts: 2,
        backoff: { type: 'none' },
        async run(_: unknown, { progress, checkpoint, lastCheckpoint, attempt }) {
          const before = await lastCheckpoint<{ at: number }>();
          if (attempt === 1) {
            progress(0.1, 'packing');
            progress(0.4, 'on the way');
            await checkpoint({ at: 40 });
            await gate.promise;
            throw new Error('lost its way');
          }
          progress(2, 'home');
          return before;
        },
      });
      await workron.start({ jobs: [walk] });
      const handle = await workron.submit(walk);
      const shown = await eventually(async () => (await handle.job()).progress ?? undefined);
      assert.deepEqual(shown, { fraction: 0.4, text: 'on the way' });
      gate.resolve();
      assert.deepEqual(await handle.result(), { at: 40 });
      assert.deepEqual((await handle.job()).progress, { fraction: 1, text: 'home' });
    });

    test('a parent that is tried again finds the children of its first attempt', async () => {
      await using it = await open();
      const { workron } = it;
      const child = job('child', { run: (n: number) => n + 100 });
      const parent = job('parent', {
        maxAttempts: 2,
        backoff: { type: 'none' },
        async run(items: readonly number[], { submit, attempt }) {
          const ids: string[] = [];
          // The second attempt meets its list in another order, and longer.
          for (const n of attempt === 1 ? items : [...items].reverse().concat(9)) {
            ids.push((await submit(child, n)).id);
          }
          ids.push((await submit(child, attempt, { key: 'report' })).id);
          if (attempt === 1) throw new Error(ids.join(' '));
          return ids;
        },
      });
      await workron.start({ jobs: [parent, child] });
      const handle = await workron.submit(parent, [1, 1, 2]);
      const second = await handle.result();
      const first = /Error: ([\d ]+)/
        .exec((await attemptsOf(workron, handle.id))[0] ?? '')?.[1]
        ?.split(' ') as string[];
      assert.equal(new Set(first).size, 4, 'alike, but two');
      assert.deepEqual(new Set([...second.slice(0, 3), second[4]]), new Set(first));
      assert.ok(!first.includes(second[3] as string), 'the one that is new');
    });

    test('a job nobody here can run waits, and says for what; handlers and commands can be parents of each other', async () => {
      await using it = await open();
      const { workron } = it;
      const elsewhere = job('elsewhere', { input: z.object({ n: z.number() }) });
      await workron.start({ jobs: [double], commands: true });
      const lonely = await workron.submit(elsewhere, { n: 1 });
      assert.match(
        waitsFor(toWire((await lonely.job()).waiting) as Waiting),
        /a worker with handler elsewhere: none is online/,
      );
      const command = await workron.submitCommand('echo n=4 > "$WORKRON_OUTPUT"');
      const sum = job('double', { run: () => 0 });
      const child = await workron.submit(sum, { n: 2 }, { dependsOn: [command] });
      const last = await workron.submitCommand('exit 3', { dependsOn: [{ job: child, if: 'ended' }], maxAttempts: 1 });
      await assert.rejects(last.result(), /exit 3/);
      assert.deepEqual([(await command.ended()).status, (await child.ended()).status], ['done', 'done']);
    });

    test('unique and idempotent submissions lead to one job', async () => {
      await using it = await open();
      const { workron } = it;
      const unique = { key: 'report', onConflict: 'existing' } as const;
      const first = await workron.submit(double, { n: 1 }, { unique });
      const second = await workron.submit(double, { n: 2 }, { unique });
      assert.deepEqual([second.id, second.deduplicated], [first.id, true]);
      const once = await workron.submit(double, { n: 1 }, { idempotencyKey: 'k' });
      assert.equal((await workron.submit(double, { n: 1 }, { idempotencyKey: 'k' })).id, once.id);
      await assert.rejects(workron.submit(double, { n: 2 }, { idempotencyKey: 'k' }), { code: 'idempotency_mismatch' });
    });

    test('stop lets what runs finish, and starts nothing more', async () => {
      await using it = await open();
      const { workron } = it;
      const started = Promise.withResolvers<void>();
      const gate = Promise.withResolvers<void>();
      const slow = job('slow', {
        async run() {
          started.resolve();
          await gate.promise;
          return 'finished';
        },
      });
      await workron.start({ jobs: [slow], concurrency: 1 });
      const handle = await workron.submit(slow);
      const waiting = handle.result();
      await started.promise;
      const second = await workron.submit(slow);
      const stopping = workron.stop();
      gate.resolve();
      assert.equal(await waiting, 'finished');
      await stopping;
      await assert.rejects(workron.start({ jobs: [slow] }), { code: 'shutting_down' });
      await assert.rejects(workron.submit(slow), { code: 'shutting_down' });
      await assert.rejects(workron.submitAll(slow, [undefined]), { code: 'shutting_down' });
      await assert.rejects(workron.submitCommand('true'), { code: 'shutting_down' });
      if (it.other !== undefined) assert.equal((await it.other.job(second.id)).status, 'pending');
    });

    test('what makes no sense is refused', async () => {
      await using it = await open();
      const { workron } = it;
      await assert.rejects(workron.start({ jobs: [double, double] }), /jobs: expected unique names, got double twice/);
      await assert.rejects(workron.start({ jobs: [double], concurrency: 0 }), /concurrency/);
      await workron.start({ jobs: [double] });
      await assert.rejects(
        workron.start({ jobs: [double] }),
        /start\(\) was called before; a Workron can be started once/,
      );
    });
  });
}

/** The errors of the ended attempts. */
async function attemptsOf(workron: Workron, id: string): Promise<string[]> {
  return (await workron.attempts(id)).map(({ error }) => error ?? '');
}

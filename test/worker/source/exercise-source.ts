/** What a worker may expect of any job source: in process, attached to the database, or over HTTP. */

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';
import { DEFAULT_SPEC, type NewJob } from '../../../src/core/job.ts';
import { NEVER as signal } from '../../../src/core/never.ts';
import type { Outcome } from '../../../src/core/outcome.ts';
import type { Scheduler } from '../../../src/scheduler/scheduler.ts';
import type { JobSource, Registration, WorkerProfile } from '../../../src/worker/job-source.ts';
import { contentOf, valueOf } from '../../../src/worker/report/checkpoint-value.ts';

export interface TestSource extends AsyncDisposable {
  source: JobSource;
  /** The scheduler behind it. */
  scheduler: Scheduler;
}

const PROFILE: WorkerProfile = {
  name: 'w',
  slots: 4,
  queues: null,
  commands: true,
  handlers: ['mail'],
  tags: ['eu'],
  resources: { memory_mb: 1_024 },
};

const OFFER = { queues: null, commands: true, handlers: ['mail'], tags: ['eu'], free: { memory_mb: 1_024 } };

function command(more: Partial<NewJob> = {}): NewJob {
  return { ...DEFAULT_SPEC, command: 'true', runAt: null, delayMs: null, unique: null, dependsOn: [], ...more };
}

type Started = { jobId: number; attempt: number; startedAt: number };

async function claimOne(source: JobSource, { workerId }: Registration, claimSeq = 1) {
  const [job] = await source.claim({ workerId, limit: 1, offer: OFFER, claimSeq, waitMs: 0 }, signal);
  assert.ok(job);
  return job;
}

async function settleOne(
  source: JobSource,
  registration: Registration,
  job: { id: number; attempt: number },
  outcome: Outcome,
) {
  const [answer] = await source.settle(
    [{ jobId: job.id, attempt: job.attempt, workerId: registration.workerId, outcome }],
    signal,
  );
  return answer;
}

export function exerciseSource(name: string, open: () => Promise<TestSource>): void {
  describe(`source: ${name}`, () => {
    test('register returns the worker’s id and its heartbeat interval', async () => {
      await using it = await open();
      const registration = await it.source.register(PROFILE, signal);
      const [worker] = await it.scheduler.workers(signal);
      assert.equal(worker?.id, registration.workerId);
      assert.deepEqual(
        [worker?.slots, worker?.tags, worker?.handlers, worker?.resources],
        [4, ['eu'], ['mail'], { memory_mb: 1_024 }],
      );
      assert.equal(registration.leaseMs, it.scheduler.leaseMs);
      assert.equal(registration.heartbeatMs, it.scheduler.heartbeatMs);
    });

    test('a claimed job arrives whole', async () => {
      await using it = await open();
      const registration = await it.source.register(PROFILE, signal);
      const spec: Partial<NewJob> = {
        command: 'echo "ü\n"',
        name: 'n',
        env: { KEY: 'värde' },
        cwd: '/tmp',
        tags: ['a', 'b'],
        requires: ['eu'],
        resources: { memory_mb: 512 },
        timeoutMs: 1_234,
        killGraceMs: 77,
        rerun: 'never',
        onDisconnect: 'finish',
        priority: 9,
        queue: 'q',
        maxAttempts: 5,
        retryOn: [75],
        noRetryOn: [2],
        fairKey: 'tenant',
      };
      const { items } = await it.scheduler.submit([command(spec)], {}, signal);
      const job = await claimOne(it.source, registration);
      assert.equal(job.id, items[0]?.job.id);
      assert.equal(job.attempt, 1);
      assert.equal(job.failures, 0);
      assert.ok(job.startedAt >= job.dueAt);
      for (const [key, value] of Object.entries(spec)) assert.deepEqual(job[key as keyof typeof job], value, key);
    });

    test('a worker ends the wait of its own claim, even before the claim has arrived, and no other wait', async () => {
      await using it = await open();
      const [one, other] = [await it.source.register(PROFILE, signal), await it.source.register(PROFILE, signal)];
      const waiting = { limit: 1, offer: OFFER, waitMs: 60_000 };
      const given = new AbortController();
      const early = it.source.endWait(one.workerId, 1, signal);
      assert.deepEqual(await it.source.claim({ ...waiting, workerId: one.workerId, claimSeq: 1 }, signal), []);
      await early;
      let ended = 0;
      const second = it.source.claim({ ...waiting, workerId: one.workerId, claimSeq: 2 }, signal);
      const foreign = it.source.claim({ ...waiting, workerId: other.workerId, claimSeq: 2 }, given.signal);
      void foreign.finally(() => (ended += 1)).catch(() => undefined);
      await it.source.endWait(one.workerId, 2, signal);
      assert.deepEqual(await second, []);
      assert.equal(ended, 0, 'the claim of the other worker still waits');
      given.abort();
      await foreign.catch(() => undefined);
    });

    test('progress and checkpoints are written for who holds the attempt, whatever their size', async () => {
      await using it = await open();
      const registration = await it.source.register(PROFILE, signal);
      await it.scheduler.submit([command()], {}, signal);
      const { id, attempt } = await claimOne(it.source, registration);
      const held = { jobId: id, attempt, workerId: registration.workerId };
      assert.equal(await it.source.checkpoint(id, signal), null);
      const report = { ...held, progress: { fraction: 0.5, text: 'half' } };
      assert.deepEqual(await it.source.report([report], signal), [true]);
      assert.deepEqual(await it.source.report([{ ...report, attempt: 2 }], signal), [false]);
      const content = contentOf({ at: [1, 'ü'] });
      assert.equal(await it.source.writeCheckpoint({ ...held, ...content }, signal), true);
      assert.equal(await it.source.writeCheckpoint({ ...held, ...contentOf(2), attempt: 2 }, signal), false);
      assert.deepEqual(await valueOf((await it.source.checkpoint(id, signal)) ?? assert.fail()), { at: [1, 'ü'] });
      const large = randomBytes(5 * 1024 * 1024 + 7);
      assert.equal(await it.source.writeCheckpoint({ ...held, ...contentOf(large) }, signal), true);
      const read = await valueOf((await it.source.checkpoint(id, signal)) ?? assert.fail());
      assert.ok(read instanceof Uint8Array && large.equals(read), 'the bytes are the same');
      const { checkpoint } = await it.scheduler.job(id, signal);
      assert.deepEqual([checkpoint?.kind, checkpoint?.bytes, checkpoint?.attempt], ['bytes', large.length, 1]);
      assert.deepEqual((await it.scheduler.job(id, signal)).progress, { fraction: 0.5, text: 'half' });
    });

    test('a claimed step has parameters and the ends of its parents; a job without workflow and parents has none', async () => {
      await using it = await open();
      const registration = await it.source.register(PROFILE, signal);
      const step = { condition: 'success', forEach: null, keepFrom: null } as const;
      const steps = [
        { ...step, key: 'first', job: command(), parents: [] },
        { ...step, key: 'then', job: command(), parents: [0] },
      ];
      const params = { date: '2026-01-31', list: [1, null] };
      const submitted = await it.scheduler.submitWorkflow({ name: 'w', params, steps, rerunOf: null }, {}, signal);
      const { id } = submitted.workflow;
      const first = await claimOne(it.source, registration);
      assert.deepEqual(first.runContext, { workflow: { id, step: 'first' }, params, item: null, parents: [] });
      await settleOne(it.source, registration, first, { type: 'succeeded', exitCode: 0, result: { rows: [7] } });
      const then = await claimOne(it.source, registration, 2);
      assert.deepEqual(then.runContext, {
        workflow: { id, step: 'then' },
        params,
        item: null,
        parents: [{ jobId: first.id, key: 'first', status: 'done', result: { rows: [7] } }],
      });
      await it.scheduler.submit([command()], {}, signal);
      assert.equal((await claimOne(it.source, registration, 3)).runContext, null);
    });

    test('handler jobs arrive with their input', async () => {
      await using it = await open();
      const registration = await it.source.register(PROFILE, signal);
      await it.scheduler.submit(
        [command({ command: null, handler: 'mail', input: { to: ['a@b'], n: 1.5, deep: null } })],
        {},
        signal,
      );
      const job = await claimOne(it.source, registration);
      assert.deepEqual([job.handler, job.command, job.input], ['mail', null, { to: ['a@b'], n: 1.5, deep: null }]);
    });

    test('a claim waits for work and is woken by it', async () => {
      await using it = await open();
      const { workerId } = await it.source.register(PROFILE, signal);
      const claiming = it.source.claim({ workerId, limit: 4, offer: OFFER, claimSeq: 1, waitMs: 30_000 }, signal);
      await new Promise((resolve) => setTimeout(resolve, 50));
      await it.scheduler.submit([command()], {}, signal);
      assert.equal((await claiming).length, 1);
    });

    test('a claim is answered with nothing when its time is up, and ends when it is aborted', async () => {
      await using it = await open();
      const { workerId } = await it.source.register(PROFILE, signal);
      assert.deepEqual(
        await it.source.claim({ workerId, limit: 4, offer: OFFER, claimSeq: 1, waitMs: 20 }, signal),
        [],
      );
      const abort = new AbortController();
      const claiming = it.source.claim({ workerId, limit: 4, offer: OFFER, claimSeq: 2, waitMs: 30_000 }, abort.signal);
      setTimeout(() => abort.abort(), 50);
      await assert.rejects(claiming);
    });

    test('every outcome reaches the scheduler as it was reported', async () => {
      await using it = await open();
      const registration = await it.source.register(PROFILE, signal);
      const outcomes: [Outcome, string, string | null][] = [
        [{ type: 'succeeded', exitCode: 0, result: { rows: 7 } }, 'done', null],
        [{ type: 'failed', exitCode: 7, signal: null, error: 'exit 7\nbang' }, 'failed', 'exit'],
        [{ type: 'failed', exitCode: null, signal: 'SIGSEGV', error: 'signal SIGSEGV' }, 'failed', 'signal'],
        [{ type: 'failed', exitCode: null, signal: null, error: 'no', fatal: true }, 'failed', 'fatal'],
        [{ type: 'timed_out', exitCode: null, signal: 'SIGTERM', error: 'timed out' }, 'failed', 'timeout'],
        [{ type: 'cancelled', error: 'as asked' }, 'cancelled', 'cancelled'],
        [{ type: 'snoozed', delayMs: 60_000 }, 'scheduled', null],
        [{ type: 'interrupted', error: 'drain' }, 'pending', null],
        [{ type: 'returned' }, 'pending', null],
      ];
      let claimSeq = 0;
      for (const [outcome, status, reason] of outcomes) {
        const { items } = await it.scheduler.submit(
          [command({ maxAttempts: 1, priority: 30_000 - claimSeq })],
          {},
          signal,
        );
        claimSeq += 1;
        const claimed = await it.source.claim(
          { workerId: registration.workerId, limit: 1, offer: OFFER, claimSeq, waitMs: 0 },
          signal,
        );
        const job = claimed[0];
        assert.equal(job?.id, items[0]?.job.id, outcome.type);
        assert.ok(job);
        assert.equal(await settleOne(it.source, registration, job, outcome), 'ok', outcome.type);
        const after = await it.scheduler.job(job.id, signal);
        assert.deepEqual([after.status, after.reason], [status, reason], outcome.type);
        if (outcome.type === 'succeeded') assert.deepEqual(after.result, { rows: 7 });
        if (outcome.type === 'failed')
          assert.deepEqual(
            [after.error, after.exitCode, after.signal],
            [outcome.error, outcome.exitCode, outcome.signal],
          );
        if (status === 'pending') await it.scheduler.cancel(job.id, { keepChildren: false }, signal);
      }
    });

    test('settle: answers in order, strangers are refused, the same again is fine', async () => {
      await using it = await open();
      const registration = await it.source.register(PROFILE, signal);
      await it.scheduler.submit([command(), command()], {}, signal);
      const first = await claimOne(it.source, registration);
      const second = await claimOne(it.source, registration, 2);
      const { workerId } = registration;
      const succeeded: Outcome = { type: 'succeeded', exitCode: 0 };
      const batch = [
        { jobId: second.id, attempt: 1, workerId, outcome: succeeded },
        { jobId: first.id, attempt: 9, workerId, outcome: succeeded },
        { jobId: first.id, attempt: 1, workerId, outcome: succeeded },
      ];
      assert.deepEqual(await it.source.settle(batch, signal), ['ok', 'lease_lost', 'ok']);
      assert.deepEqual(await it.source.settle(batch, signal), ['ok', 'lease_lost', 'ok']);
    });

    test('heartbeat: returns what to stop, what is lost, when to drain, and when to register again', async () => {
      await using it = await open();
      const registration = await it.source.register(PROFILE, signal);
      const { workerId } = registration;
      await it.scheduler.submit([command(), command()], {}, signal);
      const first = await claimOne(it.source, registration);
      const second = await claimOne(it.source, registration, 2);
      await it.scheduler.cancel(first.id, { keepChildren: false }, signal);
      await it.scheduler.drainWorker(workerId, signal);
      const leases = [
        { jobId: first.id, attempt: 1 },
        { jobId: second.id, attempt: 1 },
        { jobId: second.id + 1_000, attempt: 1 },
      ];
      const answer = await it.source.heartbeat({ workerId, leases, seenClaim: 2 }, signal);
      assert.deepEqual(answer?.cancel, [{ jobId: first.id, attempt: 1 }]);
      assert.deepEqual(answer?.lost, [{ jobId: second.id + 1_000, attempt: 1 }]);
      assert.equal(answer?.drain, true);
      assert.equal(
        await it.source.heartbeat({ workerId: workerId + 1_000, leases: [], seenClaim: 0 }, signal),
        undefined,
      );
    });

    test('what was prefetched has started when the worker says so: by heartbeat, or with its outcome', async () => {
      await using it = await open();
      const { workerId } = await it.source.register(PROFILE, signal);
      const mail = command({ command: null, handler: 'mail' });
      await it.scheduler.submit([mail, mail, mail, mail], {}, signal);
      const claim = { workerId, limit: 3, offer: OFFER, claimSeq: 1, waitMs: 0, prefetch: true };
      const jobs = await it.source.claim(claim, signal);
      assert.deepEqual(
        jobs.map(({ prefetched }) => prefetched),
        [true, true, true],
      );
      const [told, done, failed] = jobs.map(({ id, attempt, startedAt }) => ({ jobId: id, attempt, startedAt })) as [
        Started,
        Started,
        Started,
      ];
      await it.source.heartbeat({ workerId, leases: [told, done, failed], started: [told], seenClaim: 1 }, signal);
      const startOf = async ({ jobId }: Started) => (await it.scheduler.job(jobId, signal)).startedAt;
      assert.deepEqual([await startOf(told), await startOf(done)], [told.startedAt, null]);

      const succeeded: Outcome = { type: 'succeeded', exitCode: null };
      const broken: Outcome = { type: 'failed', exitCode: null, signal: null, error: 'broken' };
      const reports = [
        { ...done, workerId, outcome: succeeded },
        { ...failed, workerId, outcome: broken },
      ];
      assert.deepEqual(await it.source.settle(reports, signal), ['ok', 'ok']);
      assert.equal(await startOf(done), done.startedAt);
      const [attempt] = await it.scheduler.attempts(failed.jobId, signal);
      assert.deepEqual([attempt?.outcome, attempt?.startedAt], ['failed', failed.startedAt]);
    });

    test('heartbeat: what a seen claim handed out but is not listed goes back at once', async () => {
      await using it = await open();
      const registration = await it.source.register(PROFILE, signal);
      const { workerId } = registration;
      await it.scheduler.submit([command()], {}, signal);
      const job = await claimOne(it.source, registration, 5);
      await it.source.heartbeat({ workerId, leases: [], seenClaim: 4 }, signal);
      assert.equal((await it.scheduler.job(job.id, signal)).status, 'running');
      await it.source.heartbeat({ workerId, leases: [], seenClaim: 5 }, signal);
      const after = await it.scheduler.job(job.id, signal);
      assert.deepEqual([after.status, after.attempt, after.failures], ['pending', 1, 0]);
    });

    test('output: kept by offset, the same offset once, refused without the lease', async () => {
      await using it = await open();
      const registration = await it.source.register(PROFILE, signal);
      const { workerId } = registration;
      await it.scheduler.submit([command()], {}, signal);
      const { id: jobId, attempt } = await claimOne(it.source, registration);
      const bytes = Uint8Array.from([0, 255, 10, 104, 105]);
      const chunk = { jobId, attempt, workerId, offset: 0, data: bytes };
      assert.deepEqual(await it.source.writeOutput([chunk, { ...chunk, attempt: 2 }], signal), [true, false]);
      assert.deepEqual(
        await it.source.writeOutput([chunk, { ...chunk, offset: 5, data: Uint8Array.from([33]) }], signal),
        [true, true],
      );
      const { pieces } = await it.scheduler.log({ id: jobId, attempt: null, from: 0, maxBytes: 1_000 }, signal);
      assert.deepEqual(Buffer.concat(pieces.map(({ data }) => data)), Buffer.from([0, 255, 10, 104, 105, 33]));
    });

    test('leave: the worker is offline at once', async () => {
      await using it = await open();
      const { workerId } = await it.source.register(PROFILE, signal);
      await it.source.leave(workerId, signal);
      const [worker] = await it.scheduler.workers(signal);
      assert.equal(worker?.state, 'offline');
    });
  });
}

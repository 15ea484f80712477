import assert from 'node:assert/strict';
import type { Store } from '../src/store/store.ts';
import { aJob, anOffer, jobs } from './kit/builders.ts';
import {
  cancel,
  claim,
  claimOne,
  FAILED,
  fail,
  forever,
  ids,
  loseLeases,
  readOne,
  register,
  report,
  retry,
  submit,
  submitOne,
  success,
} from './kit/steps.ts';
import { type OpenStore, withStore } from './kit/store.ts';

const offer = anOffer({ handlers: ['h', 'g'], free: { memory_mb: 100 } });

function claimPrefetch(store: Store, workerId: number, limit = 100) {
  return claim(store, workerId, { offer, limit, prefetch: true });
}

/** Jobs of a handler. */
function handled(count: number) {
  return jobs(count, { command: null, handler: 'h' });
}

export function exercisePrefetch(open: OpenStore): void {
  const test = withStore(open);

  test('prefetch: prefetched jobs are running but have not started', async ({ store }) => {
    const [first] = await submit(store, handled(3));
    const { id } = await register(store);
    const claimed = await claimPrefetch(store, id, 2);
    assert.deepEqual(
      claimed.map(({ attempt, prefetched }) => ({ attempt, prefetched })),
      [
        { attempt: 1, prefetched: true },
        { attempt: 1, prefetched: true },
      ],
    );
    const job = await readOne(store, first?.id ?? 0);
    assert.deepEqual([job.status, job.startedAt, job.workerId], ['running', null, id]);
    assert.equal((await claim(store, id, { offer }))[0]?.prefetched, undefined);
  });

  test('prefetch: skips jobs that must not wait, and everything less urgent than these', async ({ store }) => {
    const { id } = await register(store);
    const cases = [
      aJob({ command: 'true' }),
      aJob({ command: null, handler: 'h', rerun: 'never' }),
      aJob({ command: null, handler: 'h', maxAttempts: 1 }),
      aJob({ command: null, handler: 'g', resources: { memory_mb: 1 } }),
    ];
    for (const odd of cases) {
      const [before, must, after] = ids(
        await submit(
          store,
          [...handled(1), odd, ...handled(1)].map((job, place) => ({ ...job, priority: 9 - place })),
        ),
      );
      assert.deepEqual(ids(await claimPrefetch(store, id)), [before], JSON.stringify(odd));
      assert.deepEqual(ids(await claimPrefetch(store, id)), []);
      assert.deepEqual(ids(await claim(store, id, { offer, limit: 1 })), [must]);
      assert.deepEqual(ids(await claimPrefetch(store, id)), [after]);
    }
  });

  test('prefetch: skips jobs that have failed and queues with max_running', async ({ store, advance }) => {
    const lease = await claimOne(
      store,
      aJob({ command: null, handler: 'h', backoff: { ...aJob().backoff, baseMs: 1_000 } }),
    );
    await fail(store, lease);
    await advance(60_000);
    await store.promote(10, forever);
    const { id } = await register(store);
    assert.deepEqual(await claimPrefetch(store, id), []);
    assert.equal((await claim(store, id, { offer })).length, 1);

    await store.setQueue('limited', { maxRunning: 5 }, forever);
    await submit(store, jobs(2, { command: null, handler: 'h', queue: 'limited' }));
    assert.deepEqual(await claimPrefetch(store, id), []);
    assert.equal((await claim(store, id, { offer })).length, 2);
  });

  test('prefetch: a job that cannot start now does not block others', async ({ store }) => {
    const { id } = await register(store);
    await store.setQueue('paused', { paused: true }, forever);
    await store.setQueue('full', { maxRunning: 1 }, forever);
    const handler = { command: null, handler: 'h', priority: 9 };
    await claimOne(store, aJob({ ...handler, queue: 'full' }));
    await submit(store, [
      aJob({ ...handler, queue: 'full' }),
      aJob({ ...handler, queue: 'paused' }),
      aJob({ ...handler, resources: { memory_mb: 2 } }),
    ]);
    const behind = ids(await submit(store, handled(2)));
    const free = { ...offer.free, memory_mb: 1 };
    assert.deepEqual(ids(await claim(store, id, { offer: { ...offer, free }, prefetch: true })), behind);
  });

  test('prefetch: an edit of max_attempts that makes the next attempt the last one, or no longer the last, applies', async ({
    store,
  }) => {
    const [job] = await submit(store, handled(1));
    const { id } = await register(store);
    await store.edit(job?.id ?? 0, { maxAttempts: 1 }, forever);
    assert.deepEqual(await claimPrefetch(store, id), []);
    await store.edit(job?.id ?? 0, { maxAttempts: 2 }, forever);
    assert.equal((await claimPrefetch(store, id)).length, 1);
  });

  test('prefetch: jobs of a lost worker are charged only if they had started', async ({ store, advance }) => {
    const [waited, started] = await submit(store, handled(2));
    const { id } = await register(store);
    const [, second] = await claimPrefetch(store, id);
    assert.ok(second);
    const startedAt = second.startedAt + 50;
    await advance(1_000);
    await store.start([{ jobId: second.id, attempt: 1, workerId: id, startedAt }], forever);
    assert.equal((await readOne(store, second.id)).startedAt, startedAt);
    await loseLeases(store, advance);

    const back = await readOne(store, waited?.id ?? 0);
    assert.deepEqual([back.status, back.failures, back.losses], ['pending', 0, 0]);
    assert.deepEqual(
      (await store.attempts(back.id, forever)).map(({ outcome }) => outcome),
      ['returned'],
    );
    const lost = await readOne(store, started?.id ?? 0);
    assert.deepEqual([lost.status, lost.failures, lost.losses], ['pending', 1, 1]);
  });

  test('prefetch: a job that a lost worker did not report as started is charged from its next claim on', async ({
    store,
    advance,
  }) => {
    const spec = { command: null, handler: 'h', maxAttempts: 2, backoff: { ...aJob().backoff, baseMs: 1_000 } };
    const { id: jobId } = await submitOne(store, aJob(spec));
    assert.equal((await claimPrefetch(store, (await register(store)).id)).length, 1);
    await loseLeases(store, advance);
    assert.deepEqual(await claimPrefetch(store, (await register(store)).id), []);
    for (const failures of [1, 2]) {
      const { id } = await register(store);
      const [job] = await claim(store, id, { offer });
      assert.deepEqual([job?.id, job?.suspect, job?.prefetched], [jobId, true, undefined]);
      assert.notEqual((await readOne(store, jobId)).startedAt, null);
      await loseLeases(store, advance);
      assert.deepEqual(
        [(await readOne(store, jobId)).failures, (await readOne(store, jobId)).losses],
        [failures, failures],
      );
      await advance(3_600_000);
      await store.promote(10, forever);
    }
    const { status, reason, attempt } = await readOne(store, jobId);
    assert.deepEqual([status, reason, attempt], ['failed', 'lost', 3]);
  });

  test('prefetch: jobs that a lost worker did not report as started are claimed one by one, in order', async ({
    store,
    advance,
  }) => {
    const [urgent, ...suspects] = await submit(store, handled(4));
    const lost = await register(store);
    const first = await claimPrefetch(store, lost.id, 4);
    await report(store, { job: first[0] as (typeof first)[0], workerId: lost.id }, { type: 'returned' });
    await loseLeases(store, advance);
    const after = await submitOne(store, aJob({ command: 'true' }));

    const { id } = await register(store);
    assert.deepEqual(ids(await claimPrefetch(store, id)), [urgent?.id], 'a job that was given back is prefetched');
    assert.deepEqual(await claimPrefetch(store, id), []);
    for (const suspect of suspects) {
      const taken = await claim(store, id, { offer, limit: 10 });
      assert.deepEqual(
        taken.map((job) => [job.id, job.suspect]),
        [[suspect.id, true]],
      );
    }
    assert.deepEqual(
      (await claim(store, id, { offer, limit: 10 })).map((job) => [job.id, job.suspect]),
      [[after.id, undefined]],
    );
  });

  test('prefetch: a claim takes the jobs that are more urgent than a suspect without it', async ({
    store,
    advance,
  }) => {
    await submit(store, handled(1));
    await claimPrefetch(store, (await register(store)).id);
    await loseLeases(store, advance);
    const urgent = await submit(store, [aJob({ priority: 5 }), aJob({ priority: 4, resources: { memory_mb: 1 } })]);
    const behind = await submitOne(store, aJob({ priority: -1, command: null, handler: 'g' }));
    const { id } = await register(store);
    assert.deepEqual(ids(await claim(store, id, { offer, limit: 10 })), ids(urgent));
    assert.deepEqual(
      (await claim(store, id, { offer, limit: 10 })).map(({ suspect }) => suspect),
      [true],
    );
    assert.deepEqual(ids(await claim(store, id, { offer, limit: 10 })), [behind.id]);
  });

  test('prefetch: a suspect whose worker reports an end is no longer one, and neither is one that a person retries', async ({
    store,
    advance,
  }) => {
    await submit(store, handled(2));
    await claimPrefetch(store, (await register(store)).id);
    await loseLeases(store, advance);
    const { id } = await register(store);
    const [snoozed] = await claim(store, id, { offer });
    assert.ok(snoozed?.suspect);
    await report(store, { job: snoozed, workerId: id }, { type: 'snoozed', delayMs: 1_000 });
    const [failed] = await claim(store, id, { offer });
    assert.ok(failed?.suspect);
    await report(store, { job: failed, workerId: id }, { ...FAILED, fatal: true });
    await retry(store, failed.id);
    await advance(2_000);
    await store.promote(10, forever);
    const again = await register(store);
    assert.deepEqual(
      ids(await claimPrefetch(store, again.id)).sort((a, b) => a - b),
      [snoozed.id, failed.id],
    );
  });

  test('prefetch: a start is recorded once, for the attempt and worker that hold the job, and never in the future', async ({
    store,
  }) => {
    const [job] = await submit(store, handled(1));
    const { id } = await register(store);
    const other = await register(store);
    await claimPrefetch(store, id);
    const jobId = job?.id ?? 0;
    const now = await store.now(forever);
    await store.start([{ jobId, attempt: 2, workerId: id, startedAt: now }], forever);
    await store.start([{ jobId, attempt: 1, workerId: other.id, startedAt: now }], forever);
    assert.equal((await readOne(store, jobId)).startedAt, null);
    await store.start([{ jobId, attempt: 1, workerId: id, startedAt: now + 3_600_000 }], forever);
    const { startedAt } = await readOne(store, jobId);
    assert.ok(startedAt !== null && startedAt < now + 60_000);
    await store.start([{ jobId, attempt: 1, workerId: id, startedAt: now - 500 }], forever);
    assert.equal((await readOne(store, jobId)).startedAt, startedAt);
    const [answer] = await store.settle([{ jobId, attempt: 1, workerId: id, exitCode: null }], forever);
    assert.ok(answer?.result === 'ok' && answer.startedAt <= answer.endedAt);
  });

  test('prefetch: a success records when the job started', async ({ store, advance }) => {
    await submit(store, handled(2));
    const { id } = await register(store);
    const [first, second] = await claimPrefetch(store, id);
    assert.ok(first !== undefined && second !== undefined);
    await advance(1_000);
    const answers = await store.settle(
      [
        { ...success({ job: first, workerId: id }), startedAt: first.startedAt + 700 },
        success({ job: second, workerId: id }),
      ],
      forever,
    );
    assert.equal(answers[0]?.result === 'ok' && answers[0].startedAt, first.startedAt + 700);
    assert.equal((await readOne(store, first.id)).startedAt, first.startedAt + 700);
    assert.equal((await store.attempts(first.id, forever))[0]?.startedAt, first.startedAt + 700);
    // A job whose start was never reported has a duration of 0.
    assert.equal(
      answers[1]?.result === 'ok' && answers[1].startedAt,
      answers[1]?.result === 'ok' && answers[1].endedAt,
    );
  });

  test('prefetch: a prefetched job can be cancelled and given back', async ({ store }) => {
    const [asked, given] = await submit(store, handled(2));
    const { id } = await register(store);
    const [first, second] = await claimPrefetch(store, id);
    assert.ok(first !== undefined && second !== undefined);
    await cancel(store, asked?.id ?? 0);
    const ended = await report(store, { job: first, workerId: id }, { type: 'returned' });
    assert.deepEqual([ended?.status, ended?.reason], ['cancelled', 'cancelled']);
    const back = await report(store, { job: second, workerId: id }, { type: 'returned' });
    assert.deepEqual([back?.id, back?.status, back?.failures], [given?.id, 'pending', 0]);
  });

  test('prefetch: two claimers get each job exactly once, in order', async ({ store }) => {
    const all = ids(await submit(store, handled(40)));
    const [one, two] = [await register(store), await register(store)];
    const batches = await Promise.all([one, two, one, two].map(({ id }) => claimPrefetch(store, id, 10)));
    assert.deepEqual(
      batches.flatMap(ids).sort((a, b) => a - b),
      all,
    );
    for (const batch of batches)
      assert.deepEqual(
        ids(batch),
        [...ids(batch)].sort((a, b) => a - b),
      );
  });

  test('prefetch: nothing is claimed from a paused queue or for a draining worker', async ({ store }) => {
    await submitOne(store, aJob({ command: null, handler: 'h' }));
    const { id } = await register(store);
    await store.setQueue('default', { paused: true }, forever);
    assert.deepEqual(await claimPrefetch(store, id), []);
    await store.setQueue('default', { paused: false }, forever);
    await store.drainWorker(id, forever);
    assert.deepEqual(await claimPrefetch(store, id), []);
  });
}

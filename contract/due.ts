import assert from 'node:assert/strict';
import { aJob, jobs } from './kit/builders.ts';
import {
  beat,
  cancel,
  claim,
  claimOne,
  decide,
  fail,
  forever,
  ids,
  readOne,
  register,
  report,
  retry,
  submit,
  submitOne,
} from './kit/steps.ts';
import { type OpenStore, withStore } from './kit/store.ts';

export function exerciseDue(open: OpenStore): void {
  const test = withStore(open);

  test('promote: due jobs become claimable, and no others', async ({ store, advance }) => {
    const [soon, later] = await submit(store, [aJob({ delayMs: 10_000 }), aJob({ delayMs: 600_000 }), aJob()]);
    assert.deepEqual(await store.promote(10, forever), { count: 0, nextDueAt: soon?.dueAt });
    await advance(10_000);
    assert.deepEqual(await store.promote(10, forever), { count: 1, nextDueAt: later?.dueAt });
    assert.equal((await readOne(store, soon?.id ?? 0)).status, 'pending');
    assert.equal((await readOne(store, soon?.id ?? 0)).dueAt, soon?.dueAt);
    assert.equal((await readOne(store, later?.id ?? 0)).status, 'scheduled');
    await advance(600_000);
    assert.deepEqual(await store.promote(10, forever), { count: 1, nextDueAt: null });
  });

  test('promote: promotes at most as many jobs as the limit, the earliest first', async ({ store, advance }) => {
    const [c, a, b] = await submit(store, [
      aJob({ delayMs: 3_000 }),
      aJob({ delayMs: 1_000 }),
      aJob({ delayMs: 2_000 }),
    ]);
    await advance(10_000);
    assert.deepEqual(await store.promote(2, forever), { count: 2, nextDueAt: c?.dueAt });
    const { id } = await register(store);
    assert.deepEqual(ids(await claim(store, id)), [a?.id, b?.id]);
    assert.deepEqual(await store.promote(2, forever), { count: 1, nextDueAt: null });
  });

  test('promote: two concurrent calls promote each job once', async ({ store, advance }) => {
    await submit(store, jobs(20, { delayMs: 1_000 }));
    await advance(2_000);
    const rounds = await Promise.all([store.promote(15, forever), store.promote(15, forever)]);
    const rest = await store.promote(100, forever);
    assert.equal(
      rounds.reduce((sum, { count }) => sum + count, rest.count),
      20,
    );
    const [queue] = await store.queues(forever);
    assert.deepEqual([queue?.pending, queue?.scheduled], [20, 0]);
  });

  test('expire: jobs past their start timeout are found, unchanged', async ({ store, advance }) => {
    const [late, fine, none] = await submit(store, [
      aJob({ startTimeoutMs: 1_000 }),
      aJob({ startTimeoutMs: 600_000 }),
      aJob(),
    ]);
    assert.deepEqual(await store.findExpired(10, forever), []);
    await advance(2_000);
    const found = await store.findExpired(10, forever);
    assert.deepEqual(found, [await readOne(store, late?.id ?? 0)]);

    const job = await decide(store, late?.id ?? 0, { type: 'expire' });
    assert.deepEqual([job.status, job.reason, job.expiresAt], ['failed', 'expired', null]);
    assert.match(job.error ?? '', /start_timeout/);
    assert.deepEqual(await store.attempts(job.id, forever), []);
    assert.deepEqual(await store.findExpired(10, forever), []);
    assert.deepEqual(
      (await store.read([fine?.id ?? 0, none?.id ?? 0], forever)).map(({ status }) => status),
      ['pending', 'pending'],
    );
  });

  test('expire: finds at most as many jobs as the limit', async ({ store, advance }) => {
    await submit(store, jobs(3, { startTimeoutMs: 1_000 }));
    await advance(2_000);
    assert.equal((await store.findExpired(2, forever)).length, 2);
  });

  test('expire: the start timeout counts from when the job is due', async ({ store, advance }) => {
    await submitOne(store, aJob({ delayMs: 10_000, startTimeoutMs: 5_000 }));
    await advance(12_000);
    assert.deepEqual(await store.findExpired(10, forever), []);
    await advance(4_000);
    assert.equal((await store.findExpired(10, forever)).length, 1);
  });

  test('expire: a job that has started or ended never expires', async ({ store, advance }) => {
    const lease = await claimOne(store, aJob({ startTimeoutMs: 1_000 }));
    assert.equal((await readOne(store, lease.job.id)).expiresAt, null);
    const over = await submitOne(store, aJob({ startTimeoutMs: 1_000 }));
    await cancel(store, over.id);
    await advance(5_000);
    assert.deepEqual(await store.findExpired(10, forever), []);
    await fail(store, lease);
    await advance(600_000);
    assert.deepEqual(await store.findExpired(10, forever), []);
  });

  test('expire: a claim that is given back before the job starts is not a start', async ({ store, advance }) => {
    const lease = await claimOne(store, aJob({ startTimeoutMs: 20_000 }));
    const { id } = lease.job;
    await report(store, lease, { type: 'returned' });
    assert.notEqual((await readOne(store, id)).expiresAt, null);
    await advance(15_000);
    assert.deepEqual(await store.findExpired(10, forever), []);
    await claimOne(store, null, lease.workerId);
    await advance(6_000);
    assert.deepEqual(await store.findExpired(10, forever), []);
    await beat(store, lease.workerId, [], 1);
    assert.deepEqual(ids(await store.findExpired(10, forever)), [id]);
    await decide(store, id, { type: 'expire' });
    assert.equal((await readOne(store, id)).reason, 'expired');
  });

  test('expire: a job that has started once does not expire after a later claim is given back', async ({
    store,
    advance,
  }) => {
    const lease = await claimOne(store, aJob({ startTimeoutMs: 10_000 }));
    await report(store, lease, { type: 'interrupted', error: 'stopped' });
    const again = await claimOne(store, null, lease.workerId);
    await report(store, again, { type: 'returned' });
    await advance(600_000);
    assert.deepEqual(await store.findExpired(10, forever), []);
  });

  test('expire: a manual retry restarts the start timeout', async ({ store, advance }) => {
    const job = await submitOne(store, aJob({ startTimeoutMs: 10_000 }));
    await advance(11_000);
    await decide(store, job.id, { type: 'expire' });
    await retry(store, job.id);
    await advance(5_000);
    assert.deepEqual(await store.findExpired(10, forever), []);
    await advance(6_000);
    assert.equal((await store.findExpired(10, forever)).length, 1);
  });
}

import assert from 'node:assert/strict';
import { aJob } from './kit/builders.ts';
import { cancel, claimOne, fail, forever, ids, retry, submitOne, succeed } from './kit/steps.ts';
import { type OpenStore, withStore } from './kit/store.ts';

const DAY_MS = 86_400_000;
const RETENTION = { doneMs: 7 * DAY_MS, otherMs: 30 * DAY_MS, statsMs: 90 * DAY_MS };

export function exercisePrune(open: OpenStore): void {
  const test = withStore(open);

  test('prune: deletes jobs that ended long ago, with a retention for each status', async ({ store, advance }) => {
    const done = await claimOne(store, aJob());
    await succeed(store, done);
    const failed = await claimOne(store, aJob({ maxAttempts: 1 }));
    await fail(store, failed);
    const cancelled = await submitOne(store, aJob());
    await cancel(store, cancelled.id);
    const live = await submitOne(store, aJob());
    const left = async () => ids(await store.list({}, { before: null, limit: 10 }, forever));

    await advance(6 * DAY_MS);
    assert.equal(await store.prune(RETENTION, 100, forever), 0);
    await advance(2 * DAY_MS);
    assert.equal(await store.prune(RETENTION, 100, forever), 1);
    assert.deepEqual(await left(), [live.id, cancelled.id, failed.job.id]);
    await advance(23 * DAY_MS);
    assert.equal(await store.prune(RETENTION, 100, forever), 2);
    assert.deepEqual(await left(), [live.id]);
    assert.equal(await store.prune(RETENTION, 100, forever), 0);
  });

  test('prune: retention counts from the end of the job, not from its submission', async ({ store, advance }) => {
    const old = await submitOne(store, aJob());
    await advance(100 * DAY_MS);
    assert.equal(await store.prune(RETENTION, 100, forever), 0);
    await succeed(store, await claimOne(store));
    assert.equal(await store.prune(RETENTION, 100, forever), 0);
    await advance(8 * DAY_MS);
    assert.equal(await store.prune(RETENTION, 100, forever), 1);
    assert.deepEqual(await store.read([old.id], forever), []);
  });

  test('prune: deletes at most as many jobs as the limit', async ({ store, advance }) => {
    for (let i = 0; i < 3; i += 1) await succeed(store, await claimOne(store, aJob()));
    await cancel(store, (await submitOne(store, aJob())).id);
    await advance(40 * DAY_MS);
    assert.equal(await store.prune(RETENTION, 2, forever), 2);
    assert.equal(await store.prune(RETENTION, 100, forever), 2);
    assert.equal(await store.count({}, 10, forever), 0);
  });

  test('prune: deletes attempts, output and result with the job', async ({ store, advance }) => {
    const lease = await claimOne(store, aJob());
    const { id: jobId, attempt } = lease.job;
    await store.appendLogs(
      [{ jobId, attempt, workerId: lease.workerId, offset: 0, data: Buffer.from('hello') }],
      forever,
    );
    await succeed(store, lease, { big: true });
    await advance(8 * DAY_MS);
    await store.prune(RETENTION, 100, forever);
    assert.deepEqual(await store.attempts(jobId, forever), []);
    assert.deepEqual(await store.readLog({ jobId, attempt, from: 0, maxBytes: 100 }, forever), []);
    assert.deepEqual(await succeed(store, lease), { result: 'lease_lost' });
    assert.deepEqual(await store.list({}, { before: null, limit: 10 }, forever), []);
  });

  test('prune: a job that was retried counts from its new end', async ({ store, advance }) => {
    const { id } = await submitOne(store, aJob());
    await cancel(store, id);
    await advance(40 * DAY_MS);
    await retry(store, id);
    assert.equal(await store.prune(RETENTION, 100, forever), 0);
    await fail(store, await claimOne(store));
    await advance(40 * DAY_MS);
    assert.equal(await store.prune(RETENTION, 100, forever), 0, 'a job that waits for its next attempt has not ended');
    assert.equal(await store.count({ ids: [id] }, 10, forever), 1);
  });

  test('prune: a unique key with a hold time is deleted with its job', async ({ store, advance }) => {
    const unique = { key: 'k', while: 300 * DAY_MS, onConflict: 'existing' } as const;
    await submitOne(store, aJob({ unique }));
    await succeed(store, await claimOne(store));
    await advance(8 * DAY_MS);
    assert.equal(await store.prune(RETENTION, 100, forever), 1);
    const { items } = await store.insert([aJob({ unique: { ...unique, onConflict: 'reject' } })], {}, forever);
    assert.equal(items[0]?.deduplicated, false);
  });

  test('sweep: deletes expired keys, no more than the limit at once', async ({ store, advance }) => {
    const counts = async (what: 'unique_key' | 'idempotency') => {
      const gone: number[] = [];
      for (let round = 0; round < 3; round += 1) gone.push(await store.sweep(what, RETENTION, 2, forever));
      return gone;
    };
    for (const key of ['a', 'b', 'c']) {
      const unique = { key, while: DAY_MS, onConflict: 'existing' } as const;
      await store.insert([aJob({ unique })], { idempotency: { key, fingerprint: 'f' } }, forever);
    }
    await submitOne(store, aJob({ unique: { key: 'd', while: 'active', onConflict: 'existing' } }));
    assert.deepEqual([await counts('unique_key'), await counts('idempotency')], [Array(3).fill(0), Array(3).fill(0)]);
    await advance(DAY_MS + 1_000);
    assert.deepEqual(await counts('unique_key'), [2, 1, 0]);
    assert.deepEqual(await counts('idempotency'), [2, 1, 0]);
  });

  test('prune: deletes old statistics and keeps recent ones', async ({ store, advance }) => {
    const minute = Math.floor((await store.now(forever)) / 60_000) * 60_000;
    const zeros = Array<number>(15).fill(0);
    const row = { instanceId: 'i', queue: 'q', outcome: 'done', count: 1, wait: zeros, run: zeros } as const;
    await store.addStats(
      [
        { ...row, minute },
        { ...row, minute: minute + 60 * DAY_MS },
      ],
      forever,
    );
    await advance(91 * DAY_MS);
    assert.equal(await store.sweep('stat', RETENTION, 100, forever), 1);
    const left = await store.stats({ from: 0, to: minute + 1_000 * DAY_MS }, forever);
    assert.deepEqual(
      left.map((stat) => stat.minute),
      [minute + 60 * DAY_MS],
    );
  });
}

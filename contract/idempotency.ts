import assert from 'node:assert/strict';
import { isWorkronError } from '../src/core/error.ts';
import { aJob, jobs } from './kit/builders.ts';
import { claimOne, forever, submitOne, succeed } from './kit/steps.ts';
import { type OpenStore, withStore } from './kit/store.ts';

const DAY_MS = 86_400_000;
const KEEP_ALL = { doneMs: 1_000 * DAY_MS, otherMs: 1_000 * DAY_MS, statsMs: 1_000 * DAY_MS };

export function exerciseIdempotency(open: OpenStore): void {
  const test = withStore(open);
  const idempotency = { key: 'POST /jobs k', fingerprint: 'f' };

  test('idempotency: repeating a call stores nothing and returns the same jobs', async ({ store }) => {
    const first = await store.insert(jobs(3), { idempotency }, forever);
    assert.equal(first.replayed, false);
    const again = await store.insert(jobs(3), { idempotency }, forever);
    assert.equal(again.replayed, true);
    assert.deepEqual(
      again.items.map(({ job, deduplicated }) => [job.id, deduplicated]),
      first.items.map(({ job }) => [job.id, false]),
    );
    assert.equal(await store.count({}, 10, forever), 3);
  });

  test('idempotency: a key still holds when its jobs have ended', async ({ store }) => {
    const { items } = await store.insert(jobs(1), { idempotency }, forever);
    await succeed(store, await claimOne(store));
    const again = await store.insert(jobs(1), { idempotency }, forever);
    assert.deepEqual([again.replayed, again.items[0]?.job.id], [true, items[0]?.job.id]);
  });

  test('idempotency: a repeated call gets the first reply, deduplicated jobs included', async ({ store }) => {
    const unique = { key: 'k', while: 'active', onConflict: 'existing' } as const;
    const held = await submitOne(store, aJob({ unique }));
    const batch = [aJob(), aJob({ unique })];
    const first = await store.insert(batch, { idempotency }, forever);
    const again = await store.insert(batch, { idempotency }, forever);
    for (const { items } of [first, again]) {
      assert.deepEqual(
        items.map(({ job, deduplicated }) => [job.id, deduplicated]),
        [
          [first.items[0]?.job.id, false],
          [held.id, true],
        ],
      );
    }
  });

  test('idempotency: a different request with the same key is refused', async ({ store }) => {
    await store.insert(jobs(1), { idempotency }, forever);
    await assert.rejects(
      store.insert(jobs(2), { idempotency: { ...idempotency, fingerprint: 'other' } }, forever),
      (error) => isWorkronError(error, 'idempotency_mismatch'),
    );
    assert.equal(await store.count({}, 10, forever), 1);
    await store.insert(jobs(1), { idempotency: { ...idempotency, key: 'other' } }, forever);
    assert.equal(await store.count({}, 10, forever), 2);
  });

  test('idempotency: a refused call does not store its key', async ({ store }) => {
    const unique = { key: 'k', while: 'active', onConflict: 'reject' } as const;
    const { id } = await submitOne(store, aJob({ unique }));
    await assert.rejects(store.insert([aJob({ unique })], { idempotency }, forever));
    const lease = await claimOne(store);
    assert.equal(lease.job.id, id);
    await succeed(store, lease);
    assert.equal((await store.insert([aJob({ unique })], { idempotency }, forever)).replayed, false);
  });

  test('idempotency: of many concurrent calls one stores the jobs, and the others get its reply', async ({ store }) => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => store.insert(jobs(2), { idempotency }, forever)));
    assert.equal(answers.filter(({ replayed }) => !replayed).length, 1);
    assert.equal(new Set(answers.map(({ items }) => items.map(({ job }) => job.id).join())).size, 1);
    assert.equal(await store.count({}, 100, forever), 2);
  });

  test('idempotency: keys are kept for a day', async ({ store, advance }) => {
    await store.insert(jobs(1), { idempotency }, forever);
    await advance(DAY_MS - 60_000);
    assert.equal(await store.sweep('idempotency', KEEP_ALL, 100, forever), 0);
    assert.equal((await store.insert(jobs(1), { idempotency }, forever)).replayed, true);
    await advance(120_000);
    assert.equal((await store.insert(jobs(1), { idempotency }, forever)).replayed, false);
  });
}

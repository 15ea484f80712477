import assert from 'node:assert/strict';
import { aJob } from './kit/builders.ts';
import { cancel, claim, claimOne, forever, ids, readOne, register, submit, submitOne } from './kit/steps.ts';
import { type OpenStore, withStore } from './kit/store.ts';

export function exerciseEdit(open: OpenStore): void {
  const test = withStore(open);

  test('edit: the given fields change, the others stay', async ({ store }) => {
    const job = await submitOne(store, aJob({ name: 'n', env: { A: '1' }, tags: ['old'] }));
    const wanted = { priority: 7, queue: 'other', timeoutMs: 5, maxAttempts: 9, tags: ['x', 'y'] };
    const edited = await store.edit(job.id, wanted, forever);
    assert.deepEqual(edited, { ...job, ...wanted });
    assert.deepEqual(await readOne(store, job.id), edited);
    assert.deepEqual(await store.edit(job.id, {}, forever), edited);
  });

  test('edit: a new priority applies to the next claim', async ({ store }) => {
    const [a, b, c] = ids(await submit(store, [aJob(), aJob(), aJob({ priority: 1 })]));
    await store.edit(b ?? 0, { priority: 2 }, forever);
    await store.edit(c ?? 0, { priority: -1 }, forever);
    const { id } = await register(store);
    const claimed = await claim(store, id);
    assert.deepEqual(ids(claimed), [b, a, c]);
    assert.deepEqual(
      claimed.map(({ priority }) => priority),
      [2, 0, -1],
    );
  });

  test('edit: a new queue applies to the next claim and to the counts of the queues', async ({ store }) => {
    const job = await submitOne(store, aJob({ queue: 'a', requires: ['gpu'] }));
    await store.edit(job.id, { queue: 'b' }, forever);
    const { id } = await register(store);
    const offer = { queues: ['a'], commands: true, handlers: [], tags: ['gpu'], free: {} };
    assert.deepEqual(await claim(store, id, { offer }), []);
    assert.deepEqual(
      (await store.queues(forever)).map(({ name, pending }) => [name, pending]),
      [['b', 1]],
    );
    const [claimed] = await claim(store, id, { offer: { ...offer, queues: ['b'] } });
    assert.equal(claimed?.queue, 'b');
  });

  test('edit: the worker gets the spec that was written last', async ({ store }) => {
    const job = await submitOne(store, aJob({ timeoutMs: 1 }));
    await store.edit(job.id, { timeoutMs: 2, maxAttempts: 8, tags: ['t'] }, forever);
    const { job: claimed } = await claimOne(store);
    assert.deepEqual([claimed.timeoutMs, claimed.maxAttempts, claimed.tags], [2, 8, ['t']]);
  });

  test('edit: run_at moves a job between scheduled and pending', async ({ store, advance }) => {
    const job = await submitOne(store, aJob({ startTimeoutMs: 1_000 }));
    const later = job.createdAt + 60_000;
    const scheduled = await store.edit(job.id, { runAt: later }, forever);
    assert.deepEqual([scheduled?.status, scheduled?.dueAt, scheduled?.expiresAt], ['scheduled', later, later + 1_000]);
    const { id } = await register(store);
    assert.deepEqual(await claim(store, id), []);
    assert.equal((await store.promote(10, forever)).nextDueAt, later);

    await advance(10_000);
    const sooner = await store.edit(job.id, { runAt: job.createdAt + 5_000 }, forever);
    assert.deepEqual([sooner?.status, sooner?.dueAt], ['pending', job.createdAt + 5_000]);
    const earliest = await store.edit(job.id, { runAt: 0 }, forever);
    assert.equal(earliest?.dueAt, job.createdAt, 'a job is not due before its submission');
    assert.deepEqual(ids(await claim(store, id)), [job.id]);
  });

  test('edit: only waiting jobs can be edited', async ({ store }) => {
    const lease = await claimOne(store, aJob());
    const ended = await submitOne(store, aJob());
    await cancel(store, ended.id);
    for (const id of [lease.job.id, ended.id, 999_999]) {
      assert.equal(await store.edit(id, { priority: 5 }, forever), undefined);
    }
    assert.equal((await readOne(store, lease.job.id)).priority, 0);
    assert.equal((await readOne(store, ended.id)).priority, 0);
  });

  test('edit: a claim during an edit returns the whole old job or the whole new one', async ({ store }) => {
    const { id } = await register(store);
    for (let round = 0; round < 10; round += 1) {
      const job = await submitOne(store, aJob({ timeoutMs: 1, tags: ['old'] }));
      const [edited, claimed] = await Promise.all([
        store.edit(job.id, { timeoutMs: 2, tags: ['new'] }, forever),
        claim(store, id),
      ]);
      // On a database the claim may skip a row that an edit has locked.
      const [got] = claimed.length > 0 ? claimed : await claim(store, id);
      const expected = edited === undefined ? [1, ['old']] : [2, ['new']];
      assert.deepEqual([got?.timeoutMs, got?.tags], expected);
    }
  });
}

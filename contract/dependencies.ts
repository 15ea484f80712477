import assert from 'node:assert/strict';
import type { Condition } from '../src/core/dag/conditions.ts';
import type { Job } from '../src/core/job.ts';
import type { Store } from '../src/store/store.ts';
import type { Effort } from './effort.ts';
import { aJob, jobs } from './kit/builders.ts';
import { after, cancelKeepingChildren, fates, Hands, on, settleDown, statuses } from './kit/graph.ts';
import {
  beat,
  cancel,
  claim,
  claimOne,
  forever,
  ids,
  loseLeases,
  readOne,
  register,
  retry,
  submit,
  submitOne,
  succeed,
  success,
} from './kit/steps.ts';
import { type OpenStore, withStore } from './kit/store.ts';

const DAY_MS = 86_400_000;
const KEEP_A_DAY = { doneMs: DAY_MS, otherMs: DAY_MS, statsMs: DAY_MS };

type ParentEnd = 'done' | 'failed' | 'cancelled' | 'skipped';

/** The fate of a child, by its condition and how its parent ended. */
const FATES: [Condition, ParentEnd, string][] = [
  ['success', 'done', 'pending'],
  ['success', 'failed', 'skipped: upstream_failed'],
  ['success', 'cancelled', 'skipped: upstream_failed'],
  ['success', 'skipped', 'skipped: upstream_failed'],
  ['failure', 'done', 'skipped: condition'],
  ['failure', 'failed', 'pending'],
  ['failure', 'cancelled', 'skipped: condition'],
  ['failure', 'skipped', 'skipped: condition'],
  ['ended', 'done', 'pending'],
  ['ended', 'failed', 'pending'],
  ['ended', 'cancelled', 'pending'],
  ['ended', 'skipped', 'pending'],
];

/** A waiting job, and how to end it so. */
async function endable(store: Store, hands: Hands, end: ParentEnd): Promise<{ job: Job; finish: () => Promise<void> }> {
  if (end === 'skipped') {
    const grandparent = await submitOne(store, aJob());
    const job = await submitOne(store, after([grandparent]));
    const finish = async () => {
      await hands.failed(grandparent);
      await settleDown(store);
    };
    return { job, finish };
  }
  const job = await submitOne(store, aJob());
  const finish = async () => {
    if (end === 'done') await hands.done(job);
    if (end === 'failed') await hands.failed(job);
    if (end === 'cancelled') await cancelKeepingChildren(store, job.id);
  };
  return { job, finish };
}

export function exerciseDependencies(open: OpenStore, effort: Effort): void {
  const test = withStore(open);

  test('dependencies: a child is blocked until its parent has ended, and nobody can claim it', async ({ store }) => {
    const hands = await Hands.of(store);
    const parent = await submitOne(store, aJob());
    const child = await submitOne(store, after([parent]));
    assert.deepEqual([child.status, child.attempt, child.doneAt], ['blocked', 0, null]);
    assert.deepEqual(child.dependsOn, [{ jobId: parent.id, condition: 'success' }]);
    assert.deepEqual(await readOne(store, child.id), child);

    assert.deepEqual(await hands.take(), [parent.id]);
    assert.deepEqual(await hands.take(), []);
    await hands.done(parent);
    assert.equal((await readOne(store, child.id)).status, 'pending', 'with the parent’s end, not some time later');
    assert.deepEqual(await hands.take(), [child.id]);
  });

  test('dependencies: all must hold, and are listed by id whatever their order was', async ({ store }) => {
    const hands = await Hands.of(store);
    const parents = await submit(store, jobs(3));
    const child = await submitOne(store, after([...parents].reverse()));
    assert.deepEqual(
      child.dependsOn.map(({ jobId }) => jobId),
      ids(parents),
    );
    const left = await hands.take();
    for (const id of left.slice(0, -1)) await hands.done(id);
    assert.equal((await readOne(store, child.id)).status, 'blocked');
    await hands.done(left.at(-1) ?? 0);
    assert.equal((await readOne(store, child.id)).status, 'pending');
  });

  test('dependencies: each condition against each end, whether the child came before or after', async ({ store }) => {
    const hands = await Hands.of(store);
    for (const [condition, end, fate] of FATES) {
      const { job, finish } = await endable(store, hands, end);
      const before = await submitOne(store, aJob({ dependsOn: [on(job, condition)] }));
      assert.equal(before.status, 'blocked');
      await finish();
      assert.equal((await readOne(store, job.id)).status, end);
      const later = await submitOne(store, aJob({ dependsOn: [on(job, condition)] }));
      assert.deepEqual(await fates(store, [before, later]), [fate, fate], `${condition} of ${end}`);
      assert.deepEqual(await readOne(store, later.id), later, 'it was answered as it is');
    }
  });

  test('dependencies: the first one that cannot hold decides, the others are not waited for', async ({ store }) => {
    const hands = await Hands.of(store);
    const [failing, slow] = (await submit(store, jobs(2))) as [Job, Job];
    const child = await submitOne(store, after([failing, slow]));
    await hands.failed(failing);
    assert.deepEqual(await fates(store, [child]), ['skipped: upstream_failed']);
    await hands.done(slow);
    assert.deepEqual(await fates(store, [child]), ['skipped: upstream_failed']);
  });

  test('dependencies: a failure that did not come says so, even after a success that did', async ({ store }) => {
    const hands = await Hands.of(store);
    const [a, b] = (await submit(store, jobs(2))) as [Job, Job];
    const child = await submitOne(store, aJob({ dependsOn: [on(a), on(b, 'failure')] }));
    await hands.done(a);
    assert.equal((await readOne(store, child.id)).status, 'blocked');
    await hands.done(b);
    assert.deepEqual(await fates(store, [child]), ['skipped: condition']);
  });

  test('dependencies: a skipped job ended without an attempt', async ({ store }) => {
    const hands = await Hands.of(store);
    const parent = await submitOne(store, aJob());
    const child = await submitOne(store, after([parent]));
    await hands.failed(parent);
    const late = await submitOne(store, after([parent]));
    for (const { id } of [child, late]) {
      const job = await readOne(store, id);
      assert.deepEqual([job.status, job.reason, job.attempt], ['skipped', 'upstream_failed', 0]);
      assert.deepEqual([job.error, job.exitCode, job.startedAt, job.workerId], [null, null, null, null]);
      assert.ok(job.doneAt !== null);
      assert.deepEqual(await store.attempts(id, forever), []);
    }
  });

  test('dependencies: an attempt that failed but is tried again decides nothing', async ({ store, advance }) => {
    const hands = await Hands.of(store);
    const parent = await submitOne(store, aJob({ maxAttempts: 2 }));
    const child = await submitOne(store, after([parent]));
    await hands.failedOnce(parent);
    assert.equal((await readOne(store, child.id)).status, 'blocked');
    await advance(60_000);
    await store.promote(10, forever);
    await hands.done(parent);
    assert.equal((await readOne(store, child.id)).status, 'pending');
  });

  test('dependencies: a parent whose worker vanished for good has failed', async ({ store, advance }) => {
    const lease = await claimOne(store, aJob({ maxAttempts: 1 }));
    const [child, cleanup] = await submit(store, [after([lease.job]), aJob({ dependsOn: [on(lease.job, 'failure')] })]);
    await loseLeases(store, advance);
    assert.deepEqual(await fates(store, [child, cleanup] as Job[]), ['skipped: upstream_failed', 'pending']);
  });

  test('dependencies: a parent that was asked to stop and never arrived takes its children along', async ({
    store,
  }) => {
    const lease = await claimOne(store, aJob());
    const child = await submitOne(store, after([lease.job]));
    await cancel(store, lease.job.id);
    await beat(store, lease.workerId, [], 1);
    assert.deepEqual(await fates(store, [lease.job, child]), ['cancelled: cancelled', 'cancelled: cancelled']);
  });

  test('dependencies: the failure of a job that may fail counts as success', async ({ store }) => {
    const hands = await Hands.of(store);
    const parent = await submitOne(store, aJob({ continueOnFailure: true }));
    const [next, cleanup] = (await submit(store, [after([parent]), aJob({ dependsOn: [on(parent, 'failure')] })])) as [
      Job,
      Job,
    ];
    await hands.failed(parent);
    const late = await submitOne(store, after([parent]));
    assert.equal((await readOne(store, parent.id)).status, 'failed');
    assert.deepEqual(await fates(store, [next, cleanup, late]), ['pending', 'skipped: condition', 'pending']);
  });

  test('dependencies: on a job that is not there, nothing is stored and the ids are named', async ({ store }) => {
    const parent = await submitOne(store, aJob());
    const wanted = [aJob(), aJob({ dependsOn: [on(parent), on({ id: 999_998 }), on({ id: 999_999 })] })];
    await assert.rejects(store.insert(wanted, {}, forever), (error: Error & { code: string }) => {
      assert.equal(error.code, 'dependency_unknown');
      assert.match(error.message, /999998/);
      assert.match(error.message, /999999/);
      assert.doesNotMatch(error.message, new RegExp(`\\b${parent.id}\\b`));
      return true;
    });
    assert.equal(await store.count({}, 10, forever), 1);
    await succeed(store, await claimOne(store));
    assert.equal(await store.count({ statuses: ['done'] }, 10, forever), 1);
  });

  test('dependencies: due and freed: a delay counts from submission', async ({ store, advance }) => {
    const hands = await Hands.of(store);
    const parent = await submitOne(store, aJob());
    const [early, late] = (await submit(store, [
      after([parent], { delayMs: 10_000 }),
      after([parent], { delayMs: 600_000 }),
    ])) as [Job, Job];
    assert.equal(late.dueAt, late.createdAt + 600_000);
    await advance(60_000);
    assert.equal((await store.promote(10, forever)).count, 0, 'what is blocked is not promoted');
    await hands.done(parent);
    assert.deepEqual(await statuses(store, [early, late]), ['pending', 'scheduled']);
    assert.deepEqual(
      (await store.read(ids([early, late]), forever)).map(({ dueAt }) => dueAt),
      [early.dueAt, late.dueAt],
    );
    assert.equal((await store.promote(10, forever)).nextDueAt, late.dueAt);
    await advance(600_000);
    assert.equal((await store.promote(10, forever)).count, 1);
    assert.deepEqual(await hands.take(), [early.id, late.id]);
  });

  test('dependencies: a start timeout counts from when the job is due and free', async ({ store, advance }) => {
    const hands = await Hands.of(store);
    const parent = await submitOne(store, aJob());
    const [child, late] = (await submit(store, [
      after([parent], { startTimeoutMs: 5_000 }),
      after([parent], { startTimeoutMs: 5_000, delayMs: 600_000 }),
    ])) as [Job, Job];
    assert.deepEqual([child.expiresAt, late.expiresAt], [null, null]);
    await advance(60_000);
    assert.deepEqual(await store.findExpired(10, forever), []);
    const before = await store.now(forever);
    await hands.done(parent);
    const freed = await readOne(store, child.id);
    assert.ok((freed.expiresAt ?? 0) >= before + 5_000);
    assert.ok((freed.expiresAt ?? 0) <= (await store.now(forever)) + 5_000);
    assert.equal((await readOne(store, late.id)).expiresAt, late.dueAt + 5_000);
    await advance(6_000);
    assert.deepEqual(ids(await store.findExpired(10, forever)), [child.id]);
  });

  test('dependencies: one end frees any number of children', async ({ store }) => {
    const hands = await Hands.of(store);
    const parent = await submitOne(store, aJob());
    await submit(
      store,
      Array.from({ length: 300 }, () => after([parent])),
    );
    await hands.done(parent);
    assert.equal(await store.count({ statuses: ['pending'] }, 1_000, forever), 300);
    assert.equal((await hands.take()).length, 300);
  });

  test('dependencies: parents that end in one call are counted once each', async ({ store }) => {
    const { id: workerId } = await register(store);
    const parents = await submit(store, jobs(4));
    const children = await submit(store, [after(parents), after(parents.slice(0, 2)), after(parents.slice(2))]);
    const leases = (await claim(store, workerId)).map((job) => success({ job, workerId }));
    await store.settle([...leases.slice(0, 3), ...leases.slice(0, 3)], forever);
    assert.deepEqual(await statuses(store, children), ['blocked', 'pending', 'blocked']);
    await store.settle(leases, forever);
    assert.deepEqual(await statuses(store, children), ['pending', 'pending', 'pending']);
  });

  test('dependencies: two last parents ending at the same time free their child once', async ({ store }) => {
    const [one, two] = [await Hands.of(store), await Hands.of(store)];
    for (let round = 0; round < effort.graphRaces; round += 1) {
      const [a, b] = (await submit(store, jobs(2))) as [Job, Job];
      const child = await submitOne(store, after([a, b]));
      const other = await submitOne(store, aJob({ dependsOn: [on(b), on(a, 'failure')] }));
      const leases = [await claimOne(store, null, one.workerId), await claimOne(store, null, two.workerId)];
      await Promise.all(leases.map((lease) => succeed(store, lease)));
      assert.deepEqual(await fates(store, [child, other]), ['pending', 'skipped: condition']);
      assert.deepEqual(await one.take(), [child.id]);
      await one.done(child);
    }
  });

  test('dependencies: a child submitted while its parent ends is never left blocked', async ({ store }) => {
    const hands = await Hands.of(store);
    for (let round = 0; round < effort.graphRaces; round += 1) {
      const parent = await submitOne(store, aJob());
      await hands.take();
      const [child] = await Promise.all([submitOne(store, after([parent])), hands.done(parent)]);
      assert.equal((await readOne(store, child.id)).status, 'pending');
      await hands.done(child);
    }
  });

  test('dependencies: a parent that is cancelled while it ends has one end, and its children go by that', async ({
    store,
  }) => {
    const hands = await Hands.of(store);
    for (let round = 0; round < effort.graphRaces; round += 1) {
      const parent = await submitOne(store, aJob());
      const [next, always] = (await submit(store, [after([parent]), aJob({ dependsOn: [on(parent, 'ended')] })])) as [
        Job,
        Job,
      ];
      await hands.take();
      await Promise.all([
        hands.done(parent),
        cancel(store, parent.id).catch(() => undefined),
        cancel(store, next.id).catch(() => undefined),
      ]);
      const [parentNow, nextNow, alwaysNow] = await statuses(store, [parent, next, always]);
      assert.equal(parentNow, 'done');
      assert.equal(nextNow, 'cancelled');
      assert.equal(alwaysNow, 'pending');
      await hands.done(always);
    }
  });

  test('dependencies: a blocked job can be edited, and stays blocked', async ({ store }) => {
    const hands = await Hands.of(store);
    const parent = await submitOne(store, aJob());
    const child = await submitOne(store, after([parent]));
    const edited = await store.edit(child.id, { priority: 9, runAt: child.createdAt + 60_000 }, forever);
    assert.deepEqual([edited?.status, edited?.priority, edited?.dueAt], ['blocked', 9, child.createdAt + 60_000]);
    assert.deepEqual(edited?.dependsOn, child.dependsOn);
    await hands.done(parent);
    assert.equal((await readOne(store, child.id)).status, 'scheduled');
  });

  test('dependencies: replacing a job that waits replaces what it waits for', async ({ store }) => {
    const hands = await Hands.of(store);
    const unique = { key: 'k', while: 'active', onConflict: 'replace' } as const;
    const [a, b] = (await submit(store, jobs(2))) as [Job, Job];
    const first = await submitOne(store, after([a], { unique }));
    const second = await submitOne(store, after([b], { unique }));
    assert.equal(second.id, first.id);
    assert.deepEqual([second.status, second.dependsOn], ['blocked', [on(b)]]);
    await hands.failed(a);
    assert.equal((await readOne(store, first.id)).status, 'blocked');
    const third = await submitOne(store, aJob({ unique }));
    assert.deepEqual([third.id, third.status, third.dependsOn], [first.id, 'pending', []]);
    const fourth = await submitOne(store, after([b], { unique }));
    assert.deepEqual([fourth.id, fourth.status], [first.id, 'blocked']);
    await hands.done(b);
    assert.deepEqual(await hands.take(), [first.id]);
  });

  test('dependencies: a job that waits is replaced by one with another time to start', async ({ store }) => {
    const hands = await Hands.of(store);
    const unique = { key: 'k', while: 'active', onConflict: 'replace' } as const;
    for (const [before, then] of [
      [null, 60_000],
      [60_000, null],
    ] as const) {
      const parent = await submitOne(store, aJob());
      const first = await submitOne(store, after([parent], { unique, startTimeoutMs: before }));
      const child = await submitOne(store, after([parent], { unique, startTimeoutMs: then }));
      assert.equal(child.id, first.id);
      await hands.done(parent);
      const { status, expiresAt } = await readOne(store, child.id);
      assert.deepEqual([status, expiresAt !== null], ['pending', then !== null]);
      await cancel(store, child.id);
    }
  });

  test('dependencies: of several that replace a job in one call, it waits for what the last one says', async ({
    store,
  }) => {
    const [parent, other] = await Promise.all([submitOne(store, aJob()), submitOne(store, aJob())]);
    const unique = { key: 'k', while: 'active', onConflict: 'replace' } as const;
    const held = await submitOne(store, aJob({ unique }));
    const waitsFor = async (...each: number[][]) => {
      const asked = each.map((ids) =>
        aJob({ unique, dependsOn: ids.map((id) => ({ jobId: id, condition: 'ended' })) }),
      );
      await store.insert(asked, {}, forever);
      const { status, dependsOn } = await readOne(store, held.id);
      return [status, ...dependsOn.map(({ jobId }) => jobId)];
    };
    assert.deepEqual(await waitsFor([parent.id], []), ['pending']);
    assert.deepEqual(await waitsFor([parent.id, other.id], [other.id]), ['blocked', other.id]);
    assert.deepEqual(await waitsFor([], [parent.id]), ['blocked', parent.id]);
  });

  test('dependencies: a replaced job cannot wait for a later one, which may wait for it', async ({ store }) => {
    const unique = { key: 'k', while: 'active', onConflict: 'replace' } as const;
    const first = await submitOne(store, aJob({ unique }));
    const later = await submitOne(store, after([first]));
    for (const parent of [later, first]) {
      await assert.rejects(store.insert([after([parent], { unique })], {}, forever), { code: 'unique_conflict' });
    }
    assert.deepEqual(await statuses(store, [first, later]), ['pending', 'blocked']);
    assert.deepEqual((await readOne(store, first.id)).dependsOn, []);
  });

  test('dependencies: a job skipped at once lets go of its unique key', async ({ store }) => {
    const hands = await Hands.of(store);
    const parent = await submitOne(store, aJob());
    await hands.failed(parent);
    const unique = { key: 'k', while: 'active', onConflict: 'reject' } as const;
    const skipped = await submitOne(store, after([parent], { unique }));
    assert.equal(skipped.status, 'skipped');
    assert.equal((await submitOne(store, aJob({ unique }))).status, 'pending');
  });

  test('dependencies: blocked jobs are counted with their queue', async ({ store }) => {
    const parent = await submitOne(store, aJob({ queue: 'a' }));
    const child = await submitOne(store, after([parent], { queue: 'b' }));
    const states = await store.queues(forever);
    assert.deepEqual(
      states.map(({ name, blocked, pending }) => [name, blocked, pending]),
      [
        ['a', 0, 1],
        ['b', 1, 0],
      ],
    );
    assert.deepEqual(ids(await store.list({ statuses: ['blocked'] }, { before: null, limit: 5 }, forever)), [child.id]);
  });

  test('prune: no job that an unfinished one depends on; an edge goes with either of its ends', async ({
    store,
    advance,
  }) => {
    const hands = await Hands.of(store);
    const [a, b] = (await submit(store, jobs(2))) as [Job, Job];
    const child = await submitOne(store, after([a, b]));
    await hands.done(a);
    await advance(2 * DAY_MS);
    assert.equal(await store.prune(KEEP_A_DAY, 10, forever), 0);
    await hands.done(b);
    await advance(2 * DAY_MS);
    assert.equal(await store.prune(KEEP_A_DAY, 10, forever), 0);
    await hands.done(child);
    assert.equal(await store.prune(KEEP_A_DAY, 10, forever), 2);
    assert.deepEqual((await readOne(store, child.id)).dependsOn, []);
    await advance(2 * DAY_MS);
    assert.equal(await store.prune(KEEP_A_DAY, 10, forever), 1);
  });

  test('prune: what waited for a job that is gone does so no longer', async ({ store, advance }) => {
    const hands = await Hands.of(store);
    const [gone, other] = (await submit(store, jobs(2))) as [Job, Job];
    const child = await submitOne(store, after([gone, other]));
    await hands.done(gone);
    await hands.failed(other);
    await advance(2 * DAY_MS);
    assert.equal(await store.prune({ ...KEEP_A_DAY, otherMs: 9 * DAY_MS }, 10, forever), 1);
    assert.deepEqual((await readOne(store, child.id)).dependsOn, [on(other)]);
    await retry(store, other.id);
    assert.equal((await readOne(store, child.id)).status, 'blocked');
    await hands.done(other);
    assert.equal((await readOne(store, child.id)).status, 'pending');
  });
}

import assert from 'node:assert/strict';
import { isWorkronError } from '../src/core/error.ts';
import type { Job, NewJob } from '../src/core/job.ts';
import type { JobFilter } from '../src/core/job-filter.ts';
import type { Unique } from '../src/core/unique.ts';
import type { JobInsertOptions } from '../src/store/job-store.ts';
import type { Store } from '../src/store/store.ts';
import { aJob, anOffer } from './kit/builders.ts';
import { cancel, claimOne, fail, forever, readOne, register, retry, submitOne, succeed, success } from './kit/steps.ts';
import { type OpenStore, withStore } from './kit/store.ts';

function unique(wanted: Partial<Unique> = {}): Unique {
  return { key: 'k', while: 'active', onConflict: 'existing', ...wanted };
}

async function insertOne(store: Store, job: NewJob): Promise<{ job: Job; deduplicated: boolean }> {
  const { items } = await store.insert([job], {}, forever);
  assert.ok(items[0] !== undefined && items.length === 1);
  return items[0];
}

const isConflict = (error: unknown) => isWorkronError(error, 'unique_conflict');

export function exerciseUnique(open: OpenStore): void {
  const test = withStore(open);

  test('unique: a second job with the key is not stored, and the reply is the job that holds the key', async ({
    store,
  }) => {
    const first = await insertOne(store, aJob({ command: 'first', unique: unique() }));
    assert.equal(first.deduplicated, false);
    const second = await insertOne(store, aJob({ command: 'second', unique: unique() }));
    assert.deepEqual(second, { job: first.job, deduplicated: true });
    assert.equal((await insertOne(store, aJob({ unique: unique({ key: 'other' }) }))).deduplicated, false);
    assert.equal(await store.count({}, 10, forever), 2);
  });

  test('unique: reject stores nothing of the call', async ({ store }) => {
    const { id } = await submitOne(store, aJob({ unique: unique() }));
    const batch = [
      aJob(),
      aJob({ unique: unique({ key: 'new' }) }),
      aJob({ unique: unique({ onConflict: 'reject' }) }),
    ];
    await assert.rejects(store.insert(batch, {}, forever), isConflict);
    assert.equal(await store.count({}, 10, forever), 1);
    assert.equal((await insertOne(store, aJob({ unique: unique({ key: 'new' }) }))).deduplicated, false);
    assert.equal((await insertOne(store, aJob({ unique: unique() }))).job.id, id);
  });

  test('unique: a submission for some queues does not replace, stop or follow a job of another one', async ({
    store,
  }) => {
    const { id } = await submitOne(store, aJob({ queue: 'theirs', command: 'theirs', unique: unique() }));
    const mine = (onConflict: Unique['onConflict'], within?: string[]) =>
      aJob({ queue: 'mine', command: 'mine', unique: unique({ onConflict, ...(within && { within }) }) });
    const refuses = async () => {
      for (const onConflict of ['replace', 'supersede', 'after'] as const) {
        await assert.rejects(store.insert([aJob(), mine(onConflict, ['mine'])], {}, forever), isConflict, onConflict);
      }
      assert.equal((await insertOne(store, mine('existing', ['mine']))).job.id, id);
    };
    await refuses();
    assert.equal((await readOne(store, id)).command, 'theirs');
    await claimOne(store);
    await refuses();
    const running = await readOne(store, id);
    assert.deepEqual([running.status, running.cancelRequestedAt], ['running', null]);
    assert.equal(await store.count({}, 10, forever), 1);
    // The queues of the caller are what counts, not that of the new job.
    assert.equal((await insertOne(store, mine('supersede', ['mine', 'theirs']))).deduplicated, false);
    assert.notEqual((await readOne(store, id)).cancelRequestedAt, null);
  });

  test('unique: active: the key is held from submission to the end of the job', async ({ store }) => {
    const first = await submitOne(store, aJob({ unique: unique() }));
    const lease = await claimOne(store);
    assert.equal((await insertOne(store, aJob({ unique: unique() }))).job.id, first.id);
    await fail(store, lease);
    assert.equal((await insertOne(store, aJob({ unique: unique() }))).job.status, 'scheduled');
    await cancel(store, first.id);
    const next = await insertOne(store, aJob({ unique: unique() }));
    assert.equal(next.deduplicated, false);
    await succeed(store, await claimOne(store));
    assert.equal((await insertOne(store, aJob({ unique: unique() }))).deduplicated, false);
  });

  test('unique: pending: the key is released at the first claim and not taken again', async ({ store }) => {
    const first = await submitOne(store, aJob({ unique: unique({ while: 'pending' }) }));
    assert.equal((await insertOne(store, aJob({ unique: unique({ while: 'pending' }) }))).job.id, first.id);
    const lease = await claimOne(store);
    const second = await insertOne(store, aJob({ delayMs: 60_000, unique: unique({ while: 'pending' }) }));
    assert.equal(second.deduplicated, false);
    await fail(store, lease);
    assert.equal((await insertOne(store, aJob({ unique: unique({ while: 'pending' }) }))).job.id, second.job.id);
    await cancel(store, second.job.id);
    assert.equal((await insertOne(store, aJob({ unique: unique({ while: 'pending' }) }))).deduplicated, false);
  });

  test('unique: with a hold time the key is held however the job ends', async ({ store, advance }) => {
    const timed = aJob({ unique: unique({ while: 60_000 }) });
    const first = await submitOne(store, timed);
    await succeed(store, await claimOne(store));
    const twin = await insertOne(store, timed);
    assert.deepEqual([twin.job.id, twin.job.status, twin.deduplicated], [first.id, 'done', true]);
    await advance(30_000);
    assert.equal((await insertOne(store, timed)).deduplicated, true);
    await advance(31_000);
    const next = await insertOne(store, timed);
    assert.equal(next.deduplicated, false);
    assert.equal((await insertOne(store, timed)).job.id, next.job.id);
  });

  test('unique: replace overwrites a waiting job and keeps its id', async ({ store }) => {
    const first = await submitOne(store, aJob({ command: 'first', queue: 'a', tags: ['x'], unique: unique() }));
    const { job, deduplicated } = await insertOne(
      store,
      aJob({ command: 'second', queue: 'b', priority: 5, delayMs: 60_000, unique: unique({ onConflict: 'replace' }) }),
    );
    assert.equal(deduplicated, true);
    assert.deepEqual([job.id, job.createdAt], [first.id, first.createdAt]);
    assert.deepEqual([job.command, job.queue, job.priority, job.tags], ['second', 'b', 5, []]);
    assert.equal(job.status, 'scheduled');
    assert.ok(job.dueAt >= first.createdAt + 60_000);
    assert.deepEqual(await readOne(store, first.id), job);
    assert.deepEqual(
      (await store.queues(forever)).map(({ name, scheduled }) => [name, scheduled]),
      [['b', 1]],
    );
    const back = await insertOne(store, aJob({ command: 'third', unique: unique({ onConflict: 'replace' }) }));
    assert.deepEqual([back.job.id, back.job.status], [first.id, 'pending']);
    const { job: claimed } = await claimOne(store);
    assert.deepEqual([claimed.id, claimed.command, claimed.queue], [first.id, 'third', 'default']);
    assert.equal(await store.count({}, 10, forever), 1);
  });

  test('unique: each replacement starts the wait again, up to the longest wait since the first submission', async ({
    store,
    advance,
  }) => {
    const debounced = (command: string) =>
      aJob({ command, delayMs: 10_000, unique: unique({ onConflict: 'replace', maxWaitMs: 25_000 }) });
    const { job: first } = await insertOne(store, debounced('1'));
    const near = (job: Job, ms: number) =>
      assert.ok(Math.abs(job.dueAt - first.createdAt - ms) < 5_000, `${job.dueAt - first.createdAt} is not ${ms}`);
    near(first, 10_000);
    await advance(8_000);
    near((await insertOne(store, debounced('2'))).job, 18_000);
    await advance(8_000);
    const { job: third } = await insertOne(store, debounced('3'));
    assert.deepEqual([third.id, third.status, third.command], [first.id, 'scheduled', '3']);
    assert.equal(third.dueAt, first.createdAt + 25_000, 'the longest wait is exact');
    await advance(10_000);
    const { job: last } = await insertOne(store, debounced('4'));
    assert.deepEqual([last.id, last.status, last.command], [first.id, 'pending', '4'], 'it waits no longer');
    assert.equal((await claimOne(store)).job.command, '4');
  });

  test('unique: after waits for the end of the job that runs; the newest of those that wait takes the place of the others', async ({
    store,
  }) => {
    const after = (command: string) => aJob({ command, unique: unique({ onConflict: 'after' }) });
    const first = await claimOne(store, after('1'));
    const second = await insertOne(store, after('2'));
    assert.deepEqual([second.deduplicated, second.job.status], [false, 'blocked']);
    assert.deepEqual(second.job.dependsOn, [{ jobId: first.job.id, condition: 'ended' }]);
    const third = await insertOne(store, after('3'));
    assert.deepEqual([third.deduplicated, third.job.id, third.job.command], [true, second.job.id, '3']);
    assert.equal(third.job.status, 'blocked', 'it still waits for the one that runs');
    const plain = await insertOne(store, aJob({ command: '4', unique: unique({ onConflict: 'replace' }) }));
    assert.deepEqual([plain.job.id, plain.job.status], [second.job.id, 'blocked'], 'so does one that replaces it');
    assert.equal((await readOne(store, first.job.id)).cancelRequestedAt, null);
    await fail(store, first);
    assert.equal((await readOne(store, second.job.id)).status, 'blocked', 'a retry is not an end');
    await cancel(store, first.job.id);
    const lease = await claimOne(store);
    assert.deepEqual([lease.job.id, lease.job.command], [second.job.id, '4']);
    await assert.rejects(retry(store, first.job.id), isConflict, 'its key is held by the one after it');
    await succeed(store, lease);
    assert.equal((await insertOne(store, after('5'))).deduplicated, false);
  });

  test('unique: supersede stops the job that runs, and takes the place of one that waits', async ({ store }) => {
    const newest = (command: string) => aJob({ command, unique: unique({ onConflict: 'supersede' }) });
    const first = await claimOne(store, newest('1'));
    const second = await insertOne(store, newest('2'));
    assert.deepEqual([second.deduplicated, second.job.status], [false, 'blocked']);
    assert.notEqual((await readOne(store, first.job.id)).cancelRequestedAt, null);
    assert.equal((await insertOne(store, newest('3'))).job.id, second.job.id);
    await fail(store, first);
    const lease = await claimOne(store);
    assert.deepEqual([lease.job.id, lease.job.command], [second.job.id, '3']);
    assert.equal((await readOne(store, first.job.id)).status, 'cancelled');
    const { items } = await store.insert([newest('4'), newest('5'), aJob()], {}, forever);
    assert.deepEqual(
      items.map(({ job, deduplicated }) => [job.status, deduplicated]),
      [
        ['blocked', false],
        ['blocked', true],
        ['pending', false],
      ],
      'as if they had come one after the other',
    );
    assert.equal(items[0]?.job.id, items[1]?.job.id);
    assert.equal((await readOne(store, items[0]?.job.id ?? 0)).command, '5');
    assert.deepEqual(items[0]?.job.dependsOn, [{ jobId: lease.job.id, condition: 'ended' }]);
  });

  test('unique: however supersede, after, claim and end meet, at most one job of the key runs and none is left behind', async ({
    store,
  }) => {
    for (let round = 0; round < 5; round += 1) {
      const key = `race ${round}`;
      const job = (onConflict: Unique['onConflict']) => aJob({ queue: key, unique: unique({ key, onConflict }) });
      const worker = await register(store);
      const ended = new Set<number>();
      const work = async () => {
        for (let idle = 0; idle < 3; ) {
          const request = { workerId: worker.id, limit: 1, offer: { ...anOffer(), queues: [key] }, claimSeq: 1 };
          const [claimed] = await store.claim(request, forever);
          if (claimed === undefined) {
            idle += 1;
            continue;
          }
          const running = await store.count({ queue: key, statuses: ['running'] }, 10, forever);
          assert.ok(running <= 1, `${running} jobs of the key run`);
          await store.settle([success({ job: claimed, workerId: worker.id })], forever);
          ended.add(claimed.id);
        }
      };
      const submit = async (onConflict: Unique['onConflict']) => {
        for (let n = 0; n < 6; n += 1) await store.insert([job(onConflict)], {}, forever);
      };
      await Promise.all([work(), submit('after'), submit('supersede'), submit('after')]);
      await work();
      assert.equal(await store.count({ queue: key, statuses: ['blocked', 'pending', 'running'] }, 10, forever), 0);
      assert.ok(ended.size > 0);
    }
  });

  test('unique: replace resets the counters, but never the attempt', async ({ store }) => {
    const lease = await claimOne(store, aJob({ unique: unique() }));
    await fail(store, lease);
    const { job } = await insertOne(store, aJob({ unique: unique({ onConflict: 'replace' }) }));
    assert.deepEqual([job.id, job.status, job.failures, job.attempt], [lease.job.id, 'pending', 0, 1]);
    assert.equal((await claimOne(store)).job.attempt, 2);
  });

  test('unique: replace keeps a running or ended job and returns it', async ({ store }) => {
    const lease = await claimOne(store, aJob({ command: 'first', unique: unique({ while: 60_000 }) }));
    const second = aJob({ command: 'second', unique: unique({ while: 60_000, onConflict: 'replace' }) });
    const running = await insertOne(store, second);
    assert.deepEqual([running.job.status, running.job.command, running.deduplicated], ['running', 'first', true]);
    await succeed(store, lease);
    const done = await insertOne(store, second);
    assert.deepEqual([done.job.status, done.job.command, done.deduplicated], ['done', 'first', true]);
    assert.equal(await store.count({}, 10, forever), 1);
  });

  test('unique: replace holds the key as the new job asks for it', async ({ store }) => {
    await submitOne(store, aJob({ unique: unique({ while: 'active' }) }));
    await insertOne(store, aJob({ unique: unique({ while: 'pending', onConflict: 'replace' }) }));
    await claimOne(store);
    assert.equal((await insertOne(store, aJob({ unique: unique() }))).deduplicated, false);
  });

  test('unique: jobs with the same key in one call are deduplicated', async ({ store }) => {
    const { items } = await store.insert(
      [aJob({ command: 'a', unique: unique() }), aJob(), aJob({ command: 'b', unique: unique() })],
      {},
      forever,
    );
    assert.deepEqual(
      items.map(({ deduplicated }) => deduplicated),
      [false, false, true],
    );
    assert.equal(items[2]?.job.id, items[0]?.job.id);
    assert.equal((await readOne(store, items[0]?.job.id ?? 0)).command, 'a');
    const replaced = await store.insert(
      [
        aJob({ command: 'c', unique: unique({ key: 'z' }) }),
        aJob({ command: 'd', unique: unique({ key: 'z', onConflict: 'replace' }) }),
      ],
      {},
      forever,
    );
    assert.equal(replaced.items[1]?.job.id, replaced.items[0]?.job.id);
    assert.equal((await readOne(store, replaced.items[0]?.job.id ?? 0)).command, 'd');
    const rejected = [
      aJob({ unique: unique({ key: 'y' }) }),
      aJob({ unique: unique({ key: 'y', onConflict: 'reject' }) }),
    ];
    await assert.rejects(store.insert(rejected, {}, forever), isConflict);
    assert.equal(await store.count({}, 10, forever), 3);
  });

  test('unique: a job that is skipped at once releases its key for the next job of the same call', async ({
    store,
  }) => {
    const { id: parent } = await submitOne(store, aJob());
    await succeed(store, await claimOne(store));
    const inVain = { dependsOn: [{ jobId: parent, condition: 'failure' as const }] };
    const { items } = await store.insert(
      [
        aJob({ ...inVain, unique: unique() }),
        aJob({ unique: unique() }),
        aJob({ unique: unique() }),
        aJob({ ...inVain, unique: unique({ key: 'timed', while: 60_000 }) }),
        aJob({ unique: unique({ key: 'timed', onConflict: 'replace' }) }),
      ],
      {},
      forever,
    );
    const [first, second, third, timed, late] = items;
    assert.deepEqual(
      items.map(({ job, deduplicated }) => [job.status, deduplicated]),
      [
        ['skipped', false],
        ['pending', false],
        ['pending', true],
        ['skipped', false],
        ['skipped', true],
      ],
    );
    assert.notEqual(first?.job.id, second?.job.id);
    assert.equal(third?.job.id, second?.job.id);
    assert.equal(late?.job.id, timed?.job.id);
    assert.equal((await insertOne(store, aJob({ unique: unique() }))).job.id, second?.job.id);
  });

  test('unique: a job whose replacement is skipped at once releases its key for the next job of the same call', async ({
    store,
  }) => {
    const { id: parent } = await submitOne(store, aJob());
    await succeed(store, await claimOne(store));
    const holder = await submitOne(store, aJob({ unique: unique() }));
    const { items } = await store.insert(
      [
        aJob({
          dependsOn: [{ jobId: parent, condition: 'failure' }],
          unique: unique({ onConflict: 'replace' }),
        }),
        aJob({ command: 'next', unique: unique({ onConflict: 'replace' }) }),
      ],
      {},
      forever,
    );
    assert.equal(items[0]?.job.id, holder.id);
    assert.equal((await readOne(store, holder.id)).status, 'skipped');
    assert.deepEqual([items[1]?.deduplicated, items[1]?.job.command, items[1]?.job.status], [false, 'next', 'pending']);
    assert.equal((await insertOne(store, aJob({ unique: unique() }))).job.id, items[1]?.job.id);
  });

  test('unique: of many concurrent jobs exactly one is stored', async ({ store }) => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, i) => insertOne(store, aJob({ command: `${i}`, unique: unique() }))),
    );
    assert.equal(answers.filter(({ deduplicated }) => !deduplicated).length, 1);
    assert.equal(new Set(answers.map(({ job }) => job.id)).size, 1);
    assert.equal(await store.count({}, 20, forever), 1);
  });

  test('unique: of many concurrent jobs with reject exactly one is stored', async ({ store }) => {
    const job = aJob({ unique: unique({ onConflict: 'reject' }) });
    const answers = await Promise.allSettled(Array.from({ length: 6 }, () => insertOne(store, job)));
    const refused = answers.filter((answer) => answer.status === 'rejected');
    assert.equal(refused.length, 5);
    for (const { reason } of refused) assert.ok(isConflict(reason), String(reason));
    assert.equal(await store.count({}, 20, forever), 1);
  });

  test('unique: a manual retry is refused while another job holds the key, and does not take the key again', async ({
    store,
  }) => {
    const first = await submitOne(store, aJob({ unique: unique() }));
    const bystander = await submitOne(store, aJob());
    await cancel(store, first.id);
    await cancel(store, bystander.id);
    const second = await submitOne(store, aJob({ unique: unique() }));
    await assert.rejects(retry(store, first.id), isConflict);
    assert.equal((await readOne(store, first.id)).status, 'cancelled');

    await cancel(store, second.id);
    assert.equal((await retry(store, first.id)).status, 'pending');
    const third = await insertOne(store, aJob({ unique: unique({ while: 'pending' }), delayMs: 60_000 }));
    assert.equal(third.deduplicated, false);
    const holder = async () => (await insertOne(store, aJob({ unique: unique() }))).job.id;
    const lease = await claimOne(store);
    assert.equal(lease.job.id, first.id);
    assert.equal(await holder(), third.job.id, 'its claim does not release the key of another job');
    await succeed(store, lease);
    assert.equal(await holder(), third.job.id, 'its end does not release the key of another job');
  });

  test('unique: the key can be read and searched for, also after the job has let it go', async ({ store }) => {
    const first = await submitOne(store, aJob({ unique: unique({ key: 'a "quoted" key' }) }));
    const other = await submitOne(store, aJob({ unique: unique({ key: 'other' }) }));
    const plain = await submitOne(store, aJob({ command: 'echo unique_key "unique_key"' }));
    assert.deepEqual([first.uniqueKey, plain.uniqueKey], ['a "quoted" key', null]);
    await cancel(store, first.id);
    const second = await submitOne(store, aJob({ unique: unique({ key: 'a "quoted" key' }), delayMs: 60_000 }));
    assert.equal((await readOne(store, first.id)).uniqueKey, 'a "quoted" key');
    const found = async (filter: JobFilter) =>
      (await store.list(filter, { before: null, limit: 10 }, forever)).map(({ id }) => id);
    const filter = { uniqueKey: 'a "quoted" key' };
    assert.deepEqual(await found(filter), [second.id, first.id]);
    assert.deepEqual(await found({ ...filter, statuses: ['cancelled'] }), [first.id]);
    assert.deepEqual(await found({ ...filter, statuses: ['scheduled', 'done'] }), [second.id]);
    assert.deepEqual(await found({ uniqueKey: 'other' }), [other.id]);
    assert.equal(await store.count(filter, 10, forever), 2);
    await store.edit(second.id, { priority: 3 }, forever);
    assert.equal((await readOne(store, second.id)).uniqueKey, 'a "quoted" key', 'an edit keeps it');
  });

  test('unique: a child that a retry of its parent reopens runs, though another job holds its key', async ({
    store,
  }) => {
    const parent = await submitOne(store, aJob({ maxAttempts: 1 }));
    const dependsOn = [{ jobId: parent.id, condition: 'success' } as const];
    const child = await submitOne(store, aJob({ unique: unique(), dependsOn }));
    await fail(store, await claimOne(store));
    assert.equal((await readOne(store, child.id)).status, 'skipped');
    const holder = await submitOne(store, aJob({ unique: unique(), delayMs: 60_000 }));
    assert.notEqual(holder.id, child.id, 'a skipped job has let its key go');
    await retry(store, parent.id);
    assert.equal((await readOne(store, child.id)).status, 'blocked');
    await succeed(store, await claimOne(store));
    const lease = await claimOne(store);
    assert.equal(lease.job.id, child.id);
    await succeed(store, lease);
    const again = await insertOne(store, aJob({ unique: unique() }));
    assert.deepEqual([again.job.id, again.deduplicated], [holder.id, true], 'the other job holds the key still');
  });

  test('insert: a rerun names the job that it repeats, with and without an idempotency key', async ({ store }) => {
    const first = await submitOne(store, aJob());
    const rerun = async (options: JobInsertOptions) => {
      const { items } = await store.insert([aJob({ command: 'again' })], { ...options, rerunOf: first.id }, forever);
      const job = items[0]?.job as Job;
      assert.deepEqual(await readOne(store, job.id), job);
      return [job.rerunOf, job.status];
    };
    assert.deepEqual(await rerun({}), [first.id, 'pending']);
    const idempotency = { key: 'k', fingerprint: 'f' };
    assert.deepEqual(await rerun({ idempotency }), [first.id, 'pending']);
    assert.deepEqual(await rerun({ idempotency }), [first.id, 'pending']);
    assert.equal(await store.count({}, 10, forever), 3);
  });

  test('unique: an unknown parent is reported before a key that is taken', async ({ store }) => {
    const unique = { key: 'k', while: 'active', onConflict: 'reject' } as const;
    await submitOne(store, aJob({ unique }));
    const dependsOn = [{ jobId: 999, condition: 'success' } as const];
    await assert.rejects(submitOne(store, aJob({ unique, dependsOn })), { code: 'dependency_unknown' });
  });
}

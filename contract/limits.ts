import assert from 'node:assert/strict';
import type { NewJob } from '../src/core/job.ts';
import type { Store } from '../src/store/store.ts';
import type { Effort } from './effort.ts';
import { aJob, anOffer, aStep, aWorkflow, LEASE_MS } from './kit/builders.ts';
import {
  beat,
  cancel,
  claim,
  decide,
  fail,
  forever,
  ids,
  type Lease,
  loseLeases,
  readOne,
  register,
  report,
  retry,
  submit,
  submitOne,
  succeed,
} from './kit/steps.ts';
import { type OpenStore, withStore } from './kit/store.ts';

/** Jobs with one limit, named after its key. */
function jobsOf(key: string, max: number, count: number, wanted: Partial<NewJob> = {}): NewJob[] {
  return Array.from({ length: count }, () => aJob({ name: key, limits: [{ key, max }], ...wanted }));
}

async function leases(store: Store, workerId: number, limit = 100): Promise<Lease[]> {
  return (await claim(store, workerId, { limit })).map((job) => ({ job, workerId }));
}

/** The names of the claimed jobs, in order. */
async function taken(store: Store, workerId: number, limit = 100): Promise<string> {
  return (await leases(store, workerId, limit)).map(({ job }) => job.name).join('');
}

async function parkedFor(store: Store, key: string): Promise<number> {
  return (await store.limits(forever)).find((limit) => limit.key === key)?.waiting ?? 0;
}

/** Lets others run: calls of the memory store wait for nothing. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

export function exerciseLimits(open: OpenStore, effort: Effort): void {
  const test = withStore(open);

  test('limits: no more jobs of a key run than its limit, others are not in their way', async ({ store }) => {
    const { id } = await register(store);
    await submit(store, [...jobsOf('a', 2, 5), ...jobsOf('b', 1, 2), aJob({ name: '-' })]);
    assert.equal(await taken(store, id), 'aab-');
    assert.equal(await taken(store, id), '');
    assert.equal((await store.list({ statuses: ['pending'] }, { before: null, limit: 100 }, forever)).length, 4);
  });

  test('limits: the end of a job lets the next one start, in the order of claims', async ({ store }) => {
    const { id } = await register(store);
    const [first] = await submit(store, jobsOf('a', 1, 3));
    const [held] = await leases(store, id);
    assert.equal(held?.job.id, first?.id);
    const urgent = await submitOne(store, aJob({ limits: [{ key: 'a', max: 1 }], priority: 9 }));
    assert.deepEqual(await leases(store, id), []);
    await succeed(store, held as Lease);
    const [next] = await leases(store, id);
    assert.equal(next?.job.id, urgent.id);
    await succeed(store, next);
    assert.deepEqual(ids((await leases(store, id)).map(({ job }) => job)), [(first?.id ?? 0) + 1]);
  });

  const ends: [string, (store: Store, lease: Lease, advance: (ms: number) => Promise<void>) => Promise<unknown>][] = [
    ['a failure that is retried later', (store, lease) => fail(store, lease)],
    ['a snooze', (store, lease) => report(store, lease, { type: 'snoozed', delayMs: 60_000 })],
    ['an interruption', (store, lease) => report(store, lease, { type: 'interrupted', error: 'stopped' })],
    ['a return', (store, lease) => report(store, lease, { type: 'returned' })],
    ['a claim whose answer was lost', (store, { workerId }) => beat(store, workerId, [], 1)],
    ['a lost worker', (store, _lease, advance) => loseLeases(store, advance)],
    [
      'a cancelled attempt',
      async (store, lease) => {
        await cancel(store, lease.job.id);
        await report(store, lease, { type: 'cancelled', error: null });
      },
    ],
  ];
  for (const [what, end] of ends) {
    test(`limits: ${what} lets another job of the key start`, async ({ store, advance }) => {
      const first = await register(store);
      await submit(store, jobsOf('a', 1, 1, { maxAttempts: 3 }));
      const [held] = await leases(store, first.id);
      const other = await submitOne(store, aJob({ limits: [{ key: 'a', max: 1 }], priority: 1 }));
      const second = await register(store, { leaseMs: 3_600_000 });
      assert.deepEqual(await leases(store, second.id), []);
      await end(store, held as Lease, advance);
      const after = await leases(store, second.id);
      assert.deepEqual(ids(after.map(({ job }) => job)), [other.id]);
      assert.deepEqual(await leases(store, second.id), []);
    });
  }

  test('limits: a job with several keys takes all or none', async ({ store }) => {
    const { id } = await register(store);
    const both = [
      { key: 'a', max: 1 },
      { key: 'b', max: 1 },
    ];
    await submit(store, jobsOf('b', 1, 1));
    const [b] = await leases(store, id);
    await submit(store, [aJob({ name: '2', limits: both }), ...jobsOf('a', 1, 2)]);
    assert.equal(await taken(store, id), 'a');
    await succeed(store, b as Lease);
    assert.equal(await taken(store, id), '');
    const [running] = (
      await store.list({ name: 'a', statuses: ['running'] }, { before: null, limit: 9 }, forever)
    ).slice();
    await succeed(store, { job: running as never, workerId: id });
    assert.equal(await taken(store, id), '2');
  });

  test('limits: a job that waits for another key lets the next one of a free key start', async ({ store }) => {
    const { id } = await register(store);
    await submit(store, [...jobsOf('a', 1, 1), ...jobsOf('b', 1, 1)]);
    const [a] = await leases(store, id);
    const both = [
      { key: 'a', max: 1 },
      { key: 'b', max: 1 },
    ];
    await submit(store, [aJob({ name: '2', limits: both }), ...jobsOf('a', 1, 1)]);
    assert.equal(await taken(store, id), '');
    await succeed(store, a as Lease);
    assert.equal(await taken(store, id), 'a');
  });

  test('limits: each job counts by its own max', async ({ store }) => {
    const { id } = await register(store);
    await submit(store, [...jobsOf('a', 2, 3), ...jobsOf('a', 4, 3, { name: 'A' })]);
    const held = await leases(store, id);
    assert.equal(held.map(({ job }) => job.name).join(''), 'aaAA');
    await succeed(store, held[0] as Lease);
    assert.equal(await taken(store, id), 'A');
    await succeed(store, held[1] as Lease);
    await succeed(store, held[2] as Lease);
    assert.equal(await taken(store, id), '');
    await succeed(store, held[3] as Lease);
    assert.equal(await taken(store, id), 'a');
  });

  test('limits: a limit that a person sets counts for all jobs, from then on', async ({ store }) => {
    const { id } = await register(store);
    await submit(store, jobsOf('a', 1, 6));
    assert.equal(await taken(store, id), 'a');
    assert.deepEqual(await store.setLimit('a', 3, forever), { key: 'a', max: 3, running: 1, waiting: 5 });
    assert.equal(await taken(store, id), 'aa');
    await store.setLimit('a', 1, forever);
    assert.equal(await taken(store, id), '');
    await store.setLimit('a', null, forever);
    assert.equal(await taken(store, id), '');
    assert.deepEqual(await store.limits(forever), [{ key: 'a', max: null, running: 3, waiting: 3 }]);
  });

  test('limits: a key is listed while it is set, runs or is waited for', async ({ store }) => {
    const { id } = await register(store);
    assert.deepEqual(await store.limits(forever), []);
    await store.setLimit('z', 7, forever);
    await submit(store, jobsOf('a', 1, 2));
    const held = await leases(store, id);
    assert.deepEqual(await store.limits(forever), [
      { key: 'a', max: null, running: 1, waiting: 1 },
      { key: 'z', max: 7, running: 0, waiting: 0 },
    ]);
    await store.setLimit('z', null, forever);
    await succeed(store, held[0] as Lease);
    for (const lease of await leases(store, id)) await succeed(store, lease);
    assert.deepEqual(await store.limits(forever), []);
  });

  test('limits: a paused queue, or a worker that serves other queues, keeps no key from others', async ({ store }) => {
    const { id } = await register(store);
    await submit(store, jobsOf('a', 1, 1));
    const [held] = await leases(store, id);
    await submit(store, [...jobsOf('a', 1, 2, { queue: 'p', priority: 5 }), ...jobsOf('a', 1, 1, { name: 'b' })]);
    assert.equal(await taken(store, id), '');
    await store.setQueue('p', { paused: true }, forever);
    await succeed(store, held as Lease);
    assert.equal(await taken(store, id), 'b');
    assert.equal((await store.queues(forever)).find(({ name }) => name === 'p')?.pending, 2);
    assert.equal(await store.deleteQueue('p', forever), false);
  });

  test('limits: jobs that wait can be cancelled, edited, listed and counted', async ({ store }) => {
    const { id } = await register(store);
    const jobs = await submit(store, jobsOf('a', 1, 4));
    const [held] = await leases(store, id);
    await cancel(store, jobs[1]?.id ?? 0);
    await store.edit(jobs[3]?.id ?? 0, { priority: 9, queue: 'other' }, forever);
    assert.equal((await store.queues(forever)).find(({ name }) => name === 'other')?.pending, 1);
    await succeed(store, held as Lease);
    assert.deepEqual(ids((await leases(store, id)).map(({ job }) => job)), [jobs[3]?.id]);
    assert.equal((await readOne(store, jobs[2]?.id ?? 0)).status, 'pending');
  });

  test('limits: a job that waits and is blocked again by a retry comes back', async ({ store }) => {
    const { id } = await register(store);
    const [parent] = await submit(store, [aJob({ maxAttempts: 1 })]);
    const [first] = await leases(store, id);
    await submit(store, jobsOf('a', 1, 1));
    const [a] = await leases(store, id);
    const dependsOn = [{ jobId: parent?.id ?? 0, condition: 'ended' as const }];
    const [child] = await submit(store, jobsOf('a', 1, 1, { dependsOn }));
    await fail(store, first as Lease);
    assert.deepEqual(await leases(store, id), []);
    await retry(store, parent?.id ?? 0);
    assert.equal((await readOne(store, child?.id ?? 0)).status, 'blocked');
    await succeed(store, a as Lease);
    const [again] = await leases(store, id);
    await succeed(store, again as Lease);
    assert.deepEqual(ids((await leases(store, id)).map(({ job }) => job)), [child?.id]);
  });

  test('limits: steps and items of workflows count', async ({ store }) => {
    const { id } = await register(store);
    const [job] = jobsOf('a', 2, 1) as [NewJob];
    const group = aStep('items', { job, forEach: { items: [1, 2, 3], maxParallel: null } });
    await store.insertWorkflow(aWorkflow([group, aStep('one', { job })]), {}, forever);
    await store.expand(10, forever);
    let done = 0;
    for (let held = await leases(store, id); held.length > 0; held = await leases(store, id)) {
      assert.ok(held.length <= 2);
      for (const lease of held) await succeed(store, lease);
      done += held.length;
    }
    assert.equal(done, 4);
  });

  test('limits: a job with a limit is never prefetched', async ({ store }) => {
    const { id } = await register(store, { handlers: ['h'] });
    await submit(store, jobsOf('a', 9, 2, { command: null, handler: 'h' }));
    const offer = anOffer({ handlers: ['h'] });
    assert.deepEqual(await claim(store, id, { prefetch: true, offer }), []);
    assert.equal((await claim(store, id, { offer })).length, 2);
  });

  test('limits: fair keys take turns among the jobs that wait', async ({ store }) => {
    const { id } = await register(store);
    const limits = [{ key: 'k', max: 1 }];
    const of = (fairKey: string, count: number) =>
      Array.from({ length: count }, () => aJob({ name: fairKey, fairKey, limits }));
    await submit(store, [...of('a', 3), ...of('b', 1)]);
    let order = '';
    for (let held = await leases(store, id); held.length > 0; held = await leases(store, id)) {
      order += held.map(({ job }) => job.name).join('');
      if (order === 'a') await submit(store, of('c', 1));
      for (const lease of held) await succeed(store, lease);
    }
    assert.equal(order, 'abcaa');
  });

  test('limits: a job that does not wait is found to be skipped, and only then', async ({ store }) => {
    const { id } = await register(store);
    const jobs = await submit(store, jobsOf('a', 1, 2, { onLimit: 'skip' }));
    assert.deepEqual(await store.findSkippable(10, forever), []);
    const [held] = await leases(store, id);
    assert.deepEqual(ids(await store.findSkippable(10, forever)), [jobs[1]?.id]);
    await succeed(store, held as Lease);
    assert.deepEqual(await leases(store, id), []);
    const skipped = await decide(store, jobs[1]?.id ?? 0, { type: 'skip' });
    assert.deepEqual([skipped.status, skipped.reason], ['skipped', 'limit']);
    assert.deepEqual(ids(await store.list({ reason: 'limit' }, { before: null, limit: 9 }, forever)), [skipped.id]);
    assert.deepEqual(await store.findSkippable(10, forever), []);
  });

  test('limits: claimers at the same time do not exceed a limit, and start every job once', async ({ store }) => {
    const workers = await Promise.all(Array.from({ length: 30 }, () => register(store, { leaseMs: 3_600_000 })));
    const keys = ['a', 'b', 'c'];
    const jobs = Array.from({ length: effort.races }, (_, n) => {
      const [one, two] = [keys[n % 3] as string, keys[(n + 1) % 3] as string];
      return aJob({
        limits:
          n % 2 === 0
            ? [{ key: one, max: 2 }]
            : [
                { key: one, max: 2 },
                { key: two, max: 2 },
              ],
      });
    });
    await submit(store, jobs);
    const running = new Map<string, number>();
    let done = 0;
    const count = ({ job }: Lease, by: 1 | -1) => {
      for (const { key } of job.limits) running.set(key, (running.get(key) ?? 0) + by);
    };
    await Promise.all(
      workers.map(async ({ id }) => {
        while (done < jobs.length) {
          await nextTurn();
          for (const lease of await leases(store, id, 3)) {
            count(lease, 1);
            for (const [key, now] of running) assert.ok(now <= 2, `${now} jobs with key ${key} run`);
            await nextTurn();
            count(lease, -1);
            await succeed(store, lease);
            done += 1;
          }
        }
      }),
    );
    assert.equal(done, jobs.length);
    assert.deepEqual(await store.limits(forever), []);
    assert.equal(store.deadlocks(), 0);
  });

  test('limits: a full key stays closed, and the end of its job leaves nothing to heal', async ({ store }) => {
    const { id } = await register(store);
    await submit(store, [...jobsOf('a', 1, 2), ...jobsOf('b', 2, 3), ...jobsOf('c', 1, 2, { onLimit: 'skip' })]);
    const held = await leases(store, id);
    const heal = () => store.healParkings({ after: 0, limit: 100 }, forever);
    for (const lease of held) {
      assert.deepEqual(await heal(), { meters: [], next: null });
      assert.equal(await taken(store, id), '');
      await succeed(store, lease);
      assert.deepEqual(await heal(), { meters: [], next: null });
      for (const next of await leases(store, id)) await succeed(store, next);
    }
    assert.deepEqual(await heal(), { meters: [], next: null });
    assert.deepEqual(
      (await store.limits(forever)).map(({ key, waiting }) => [key, waiting]),
      [['c', 1]],
    );
  });

  test('limits: a claim that meets many jobs of a full key moves few of them, and later ones go on', async ({
    store,
  }) => {
    const { id } = await register(store, { leaseMs: 100 * LEASE_MS });
    const many = 1_500;
    await submit(store, jobsOf('a', 1, 1 + many, { priority: 1 }));
    assert.equal(await taken(store, id, 1), 'a');
    await submit(store, [...jobsOf('b', 1, 1, { priority: 1 }), aJob({ name: '-', priority: 0 })]);
    assert.equal(await taken(store, id, 2), '-', 'a less urgent job starts meanwhile');
    let waiting = await parkedFor(store, 'a');
    assert.ok(waiting > 0 && waiting < many, `one claim has moved ${waiting} jobs`);
    let claims = 0;
    for (let names = ''; names !== 'b'; names = await taken(store, id, 2)) {
      claims += 1;
      assert.ok(claims < 10, 'later claims come to the job of another key');
    }
    waiting = await parkedFor(store, 'a');
    assert.equal(waiting, many);
  });

  test('limits: a job that waits for a key has a place among those that wait for it', async ({ store }) => {
    const { id } = await register(store);
    const [running] = await submit(store, jobsOf('a', 1, 1));
    await leases(store, id);
    assert.deepEqual(await store.holders('a', 10, forever), [running?.id]);
    assert.deepEqual([await store.holders('a', 0, forever), await store.holders('b', 10, forever)], [[], []]);
    const [first, , last] = await submit(store, jobsOf('a', 1, 3));
    await submit(store, [...jobsOf('b', 1, 1), ...jobsOf('a', 2, 1, { onLimit: 'skip' })]);
    const ahead = (jobId = 0, meter = 'limit:a', atMost = 10) => store.countAheadAt(meter, jobId, atMost, forever);
    assert.deepEqual([await ahead(first?.id), await ahead(last?.id)], [0, 0], 'no claim has met them');
    await leases(store, id);
    assert.deepEqual([await ahead(first?.id), await ahead(last?.id)], [0, 2]);
    const [urgent] = await submit(store, jobsOf('a', 1, 1, { priority: 1 }));
    await leases(store, id);
    assert.deepEqual([await ahead(urgent?.id), await ahead(last?.id)], [0, 3]);
    assert.equal(await ahead(last?.id, 'limit:a', 1), 1);
    assert.equal(await ahead(last?.id, 'limit:b'), 0);
    assert.equal(await ahead(1_000_000), 0);
    const [later] = await submit(store, jobsOf('a', 1, 1, { delayMs: 3_600_000 }));
    assert.equal(await ahead(later?.id), 0, 'a job that is not due does not wait for the key');
  });

  test('limits: a less urgent job does not pass one that lies behind jobs of a full key', async ({ store }) => {
    const { id } = await register(store);
    await submit(store, [
      ...jobsOf('a', 1, 12, { priority: 2 }),
      ...jobsOf('b', 1, 1, { priority: 1 }),
      aJob({ name: '-' }),
    ]);
    assert.equal(await taken(store, id, 1), 'a');
    assert.equal(await taken(store, id, 1), 'b');
    assert.equal(await taken(store, id, 1), '-');
  });
}

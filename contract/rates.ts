import assert from 'node:assert/strict';
import type { NewJob } from '../src/core/job.ts';
import type { Rate } from '../src/core/meter.ts';
import type { Store } from '../src/store/store.ts';
import { aJob, anOffer } from './kit/builders.ts';
import { nextHint } from './kit/hints.ts';
import {
  beat,
  claim,
  fail,
  forever,
  ids,
  type Lease,
  register,
  report,
  submit,
  submitOne,
  succeed,
} from './kit/steps.ts';
import { type OpenStore, withStore } from './kit/store.ts';

function aRate(wanted: Partial<Rate> = {}): Rate {
  return { key: 'api', limit: 2, perMs: 600_000, burst: 0, ...wanted };
}

function jobsAt(rate: Rate, count: number, wanted: Partial<NewJob> = {}): NewJob[] {
  return Array.from({ length: count }, () => aJob({ rates: [rate], ...wanted }));
}

async function started(store: Store, workerId: number): Promise<number> {
  return (await claim(store, workerId)).length;
}

export function exerciseRates(open: OpenStore): void {
  const test = withStore(open);

  test('rates: in no window do more attempts start than the rate allows', async ({ store, advance }) => {
    const { id } = await register(store, { leaseMs: 360_000_000 });
    await submit(store, [...jobsAt(aRate(), 6), aJob()]);
    assert.equal(await started(store, id), 3);
    await advance(540_000);
    await submit(store, jobsAt(aRate(), 1, { priority: 1 }));
    assert.equal(await started(store, id), 0);
    await advance(60_060);
    assert.equal(await started(store, id), 2);
    assert.equal(await started(store, id), 0);
    await advance(600_060);
    assert.equal(await started(store, id), 2);
  });

  test('rates: jobs with one key and different rates may start and wait in the same claim', async ({
    store,
    advance,
  }) => {
    const { id } = await register(store, { leaseMs: 360_000_000 });
    const [narrow, wide] = [aRate({ limit: 1 }), aRate({ limit: 9 })];
    await submit(store, jobsAt(wide, 1));
    assert.equal(await started(store, id), 1);
    await advance(60_000);
    const [, passes] = await submit(store, [...jobsAt(narrow, 1), ...jobsAt(wide, 1), ...jobsAt(narrow, 1)]);
    assert.deepEqual(ids(await claim(store, id)), [passes?.id]);
    await advance(600_060);
    assert.equal(await started(store, id), 1);
  });

  test('rates: ends free nothing, and retries count', async ({ store, advance }) => {
    const { id } = await register(store, { leaseMs: 360_000_000 });
    await submit(store, jobsAt(aRate({ limit: 1 }), 2, { backoff: { ...aJob().backoff, type: 'none' } }));
    const [job] = await claim(store, id);
    await fail(store, { job, workerId: id } as Lease);
    assert.equal(await started(store, id), 0);
    await advance(600_060);
    const [again] = await claim(store, id);
    assert.equal(again?.id, job?.id);
    await succeed(store, { job: again, workerId: id } as Lease);
    assert.equal(await started(store, id), 0);
  });

  test('rates: a claim that is returned unstarted gives its token back', async ({ store }) => {
    const { id } = await register(store);
    await submit(store, jobsAt(aRate({ limit: 1 }), 2));
    const [job] = await claim(store, id);
    assert.equal(await started(store, id), 0);
    await report(store, { job, workerId: id } as Lease, { type: 'returned' });
    assert.deepEqual(ids(await claim(store, id)), [job?.id]);
    await beat(store, id, [], 1);
    assert.deepEqual(ids(await claim(store, id)), [job?.id]);
  });

  test('rates: a burst allows more at once, and no more in the long run', async ({ store, advance }) => {
    const { id } = await register(store, { leaseMs: 360_000_000 });
    await submit(store, jobsAt(aRate({ limit: 10, burst: 5, perMs: 600_000 }), 100));
    const starts: number[] = [];
    for (let minute = 0; minute <= 60; minute += 1) {
      starts.push(await started(store, id));
      await advance(60_000);
    }
    assert.equal(starts[0], 15);
    for (let from = 0; from + 10 <= starts.length; from += 1) {
      const inWindow = starts.slice(from, from + 10).reduce((sum, count) => sum + count, 0);
      assert.ok(inWindow <= 15, `${inWindow} started within 10 min`);
    }
    const all = starts.reduce((sum, count) => sum + count, 0);
    assert.ok(all >= 60 && all <= 75, `${all} started within an hour`);
  });

  test('rates: an urgent newcomer goes first when the key opens', async ({ store, advance }) => {
    const { id } = await register(store, { leaseMs: 360_000_000 });
    const [, second] = await submit(store, jobsAt(aRate({ limit: 1 }), 3));
    assert.equal(await started(store, id), 1);
    const urgent = await submitOne(store, aJob({ rates: [aRate({ limit: 1 })], priority: 5 }));
    assert.equal(await started(store, id), 0);
    await advance(600_060);
    assert.deepEqual(ids(await claim(store, id)), [urgent.id]);
    await advance(600_060);
    assert.deepEqual(ids(await claim(store, id)), [second?.id]);
  });

  test('rates: a rate and a limit both count', async ({ store, advance }) => {
    const { id } = await register(store, { leaseMs: 360_000_000 });
    await submit(store, jobsAt(aRate({ limit: 3 }), 9, { limits: [{ key: 'api', max: 2 }] }));
    const held = await claim(store, id);
    assert.equal(held.length, 2);
    await succeed(store, { job: held[0], workerId: id } as Lease);
    await succeed(store, { job: held[1], workerId: id } as Lease);
    assert.equal(await started(store, id), 1);
    await advance(600_060);
    assert.equal(await started(store, id), 1);
  });

  test('rates: a key that was closed lets nothing start until then', async ({ store, advance }) => {
    const { id } = await register(store, { leaseMs: 360_000_000 });
    await submit(store, [...jobsAt(aRate(), 2), ...jobsAt(aRate({ key: 'other' }), 1)]);
    const before = await store.now(forever);
    const { opensAt } = await store.closeRate('api', 1_800_000, forever);
    assert.ok((opensAt ?? 0) >= before + 1_800_000 && (opensAt ?? 0) <= (await store.now(forever)) + 1_800_000);
    await store.closeRate('api', 60_000, forever);
    assert.equal(await started(store, id), 1);
    await advance(1_740_000);
    assert.equal(await started(store, id), 0);
    await advance(60_060);
    assert.equal(await started(store, id), 2);
  });

  test('rates: the rate of a queue counts for all of its jobs', async ({ store, advance }) => {
    const { id } = await register(store, { leaseMs: 360_000_000, handlers: ['h'] });
    const rate = { limit: 2, perMs: 600_000, burst: 1 };
    const state = await store.setQueue('mail', { rate }, forever);
    assert.deepEqual([state.rate, state.maxRunning, state.paused], [rate, null, false]);
    const mail = Array.from({ length: 6 }, () => aJob({ queue: 'mail' }));
    await submit(store, [...mail, aJob({ name: 'other' }), ...jobsAt(aRate({ limit: 9 }), 1, { queue: 'mail' })]);
    const first = await claim(store, id);
    assert.deepEqual(
      first.map(({ queue }) => queue),
      ['mail', 'mail', 'mail', 'default'],
    );
    assert.equal(await started(store, id), 0);
    await report(store, { job: first[0], workerId: id } as Lease, { type: 'returned' });
    assert.deepEqual(ids(await claim(store, id)), [first[0]?.id]);
    const { nextDueAt } = await store.promote(10, forever);
    const now = await store.now(forever);
    assert.ok(nextDueAt !== null && nextDueAt > now && nextDueAt <= now + 900_000);
    await advance(840_000);
    assert.equal(await started(store, id), 0);
    await advance(60_060);
    const work = nextHint(store, 'work');
    assert.equal((await store.promote(10, forever)).nextDueAt, null);
    await work;
    assert.equal(await started(store, id), 3);
    await store.setQueue('mail', { maxRunning: 100 }, forever);
    assert.equal(await started(store, id), 0);
    await store.setQueue('mail', { rate: null }, forever);
    assert.equal(await started(store, id), 1);
  });

  test('rates: jobs of a queue with a rate are not prefetched, and do not stop others at a full rate', async ({
    store,
  }) => {
    const { id } = await register(store, { leaseMs: 360_000_000, handlers: ['h'] });
    await store.setQueue('mail', { rate: { limit: 1, perMs: 600_000, burst: 0 } }, forever);
    const job = aJob({ command: null, handler: 'h' });
    await submit(store, [
      { ...job, queue: 'mail' },
      { ...job, queue: 'mail' },
    ]);
    const offer = anOffer({ handlers: ['h'] });
    assert.deepEqual(await claim(store, id, { prefetch: true, offer }), []);
    assert.equal((await claim(store, id, { offer })).length, 1);
    const other = await submitOne(store, job);
    assert.deepEqual(ids(await claim(store, id, { prefetch: true, offer })), [other.id]);
  });

  test('rates: a key is listed while it is in use, closed or waited for', async ({ store, advance }) => {
    const { id } = await register(store, { leaseMs: 360_000_000 });
    assert.deepEqual(await store.rates(forever), []);
    await submit(store, jobsAt(aRate({ limit: 1 }), 2));
    await claim(store, id);
    assert.deepEqual(await store.rates(forever), [{ key: 'api', started: 1, opensAt: null, waiting: 1 }]);
    await advance(600_060);
    await claim(store, id);
    await advance(600_060);
    assert.deepEqual(await store.rates(forever), []);
  });

  test('rates: waiting workers are told when a key opens', async ({ store, advance }) => {
    const { id } = await register(store, { leaseMs: 360_000_000 });
    await submit(store, jobsAt(aRate({ limit: 1 }), 2));
    const due = nextHint(store, 'due');
    await claim(store, id);
    const { at } = await due;
    const now = await store.now(forever);
    assert.ok(at > now && at <= now + 600_000);
    const waiting = await store.promote(10, forever);
    assert.equal(waiting.nextDueAt, at);
    await advance(600_060);
    const work = nextHint(store, 'work');
    assert.equal((await store.promote(10, forever)).nextDueAt, null);
    await work;
    assert.equal(await started(store, id), 1);
  });

  test('rates: hold in every window, also when the clock is set and claims are returned', async ({
    store,
    advance,
  }) => {
    const perMs = 600_000;
    const rate = aRate({ limit: 3, perMs, burst: 1 });
    const { id } = await register(store, { leaseMs: 1_000 * perMs });
    const starts: number[] = [];
    // Steps end nowhere near a window: on some stores the real time passes as well.
    const steps = [100_000, 170_000, 650_000, -250_000, 90_000, -480_000, 310_000, 640_000, 50_000, -120_000, 820_000];
    for (let round = 0; round < 33; round += 1) {
      await submit(store, jobsAt(rate, 2, { priority: round % 3 }));
      const jobs = await claim(store, id, { limit: 1 + (round % 4) });
      for (const [place, job] of jobs.entries()) {
        if ((round + place) % 5 === 0) await report(store, { job, workerId: id }, { type: 'returned' });
        else starts.push(job.startedAt);
      }
      await advance(steps[round % steps.length] as number);
    }
    starts.sort((a, b) => a - b);
    assert.ok(starts.length > 20, `${starts.length} attempts have started`);
    for (const [place, at] of starts.entries()) {
      const next = starts[place + 4] ?? Infinity;
      assert.ok(next >= at + perMs, `${place}: five attempts started within ${next - at} ms`);
    }
  });
}

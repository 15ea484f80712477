import assert from 'node:assert/strict';
import { DEFAULT_SPEC, type JobSpec, type NewJob } from '../src/core/job.ts';
import type { ClaimRequest } from '../src/store/job-store.ts';
import type { Store } from '../src/store/store.ts';
import { aJob, anOffer, jobs, LEASE_MS } from './kit/builders.ts';
import { nextHint } from './kit/hints.ts';
import {
  beat,
  claim,
  claimOne,
  findLost,
  forever,
  ids,
  loseLeases,
  readOne,
  register,
  submit,
  submitOne,
  succeed,
} from './kit/steps.ts';
import { type OpenStore, withStore } from './kit/store.ts';

/** Submits jobs while the worker waits; returns the stored jobs and the claimed ones. */
async function hand(
  store: Store,
  workerId: number,
  wanted: readonly NewJob[],
  request: Partial<ClaimRequest> = {},
): Promise<{ stored: number[]; handed: number[] }> {
  const whole = { workerId, limit: 100, offer: anOffer(), claimSeq: 1, ...request };
  const { items, claimed } = await store.insertAndClaim(wanted, whole, forever);
  return { stored: items.map(({ job }) => job.id), handed: ids(claimed) };
}

/** A worker whose last claim returned nothing, as with a waiting worker: the store knows its lanes. */
async function waiting(store: Store, wanted: Partial<ClaimRequest> = {}): Promise<number> {
  const { id } = await register(store);
  await claim(store, id, wanted);
  return id;
}

export function exerciseInsertAndClaim(open: OpenStore): void {
  const test = withStore(open);

  test('insert and claim: a waiting worker gets the job in the call that inserts it, as it would by a claim', async ({
    store,
  }) => {
    const wanted = aJob({ command: 'echo hi', env: { A: '1' }, timeoutMs: 77, tags: ['t'], priority: 3 });
    // The lane exists from here on.
    const usual = await claimOne(store, wanted);
    const workerId = await waiting(store);
    const request = { workerId, limit: 4, offer: anOffer(), claimSeq: 1 };
    const { items, claimed } = await store.insertAndClaim([wanted], request, forever);

    const [item] = items;
    const [job, ...others] = claimed;
    assert.ok(item && job);
    assert.deepEqual(others, []);
    assert.deepEqual([item.job.status, item.job.attempt, item.deduplicated], ['pending', 0, false]);
    const { startedAt, ...rest } = job;
    const properties = Object.keys(DEFAULT_SPEC) as (keyof JobSpec)[];
    const spec = Object.fromEntries(properties.map((property) => [property, wanted[property]]));
    const { id, dueAt } = item.job;
    assert.deepEqual(rest, { ...spec, id, failures: 0, dueAt, attempt: 1, runContext: null });
    const running = await readOne(store, id);
    assert.equal(running.startedAt, startedAt);
    const asUsual = await readOne(store, usual.job.id);
    const { createdAt, lastHeartbeatAt } = running;
    assert.deepEqual(running, { ...asUsual, id, dueAt, startedAt, workerId, createdAt, lastHeartbeatAt });

    assert.equal((await succeed(store, { job, workerId })).result, 'ok');
    const [record] = await store.attempts(id, forever);
    assert.deepEqual([record?.attempt, record?.outcome, record?.startedAt], [1, 'done', startedAt]);
  });

  test('insert and claim: the worker and the submitter get separate objects', async ({ store }) => {
    const offer = anOffer({ handlers: ['h'] });
    await submitOne(store, aJob({ handler: 'h' }));
    const workerId = await waiting(store, { offer });
    const input = { list: [1] };
    const job = aJob({ handler: 'h', input });
    const { claimed } = await store.insertAndClaim([job], { workerId, limit: 1, offer, claimSeq: 2 }, forever);
    input.list.push(2);
    assert.deepEqual(claimed[0]?.input, { list: [1] });
  });

  test('insert and claim: a new job does not overtake a more urgent waiting one', async ({ store }) => {
    const urgent = await submitOne(store, aJob({ priority: 5 }));
    const id = await waiting(store, { limit: 0 });
    const { stored, handed } = await hand(store, id, jobs(2), { limit: 1 });
    const rest = await claim(store, id);
    assert.deepEqual([...handed, ...ids(rest)], [urgent.id, ...stored]);
  });

  test('insert and claim: a new job does not overtake an older one of the same priority in any lane', async ({
    store,
  }) => {
    const before = ids(await submit(store, [aJob({ handler: 'h' }), aJob({ queue: 'other' }), aJob()]));
    const offer = anOffer({ handlers: ['h'] });
    const id = await waiting(store, { limit: 0, offer });
    const { stored, handed } = await hand(store, id, jobs(1), { limit: 1, offer });
    const rest = await claim(store, id, { offer });
    assert.deepEqual([...handed, ...ids(rest)], [...before, ...stored]);
  });

  test('insert and claim: a waiting job that the worker cannot run does not block new ones', async ({ store }) => {
    await submit(store, jobs(3, { handler: 'h', priority: 5 }));
    const id = await waiting(store);
    const { stored, handed } = await hand(store, id, jobs(1));
    assert.deepEqual([...handed, ...ids(await claim(store, id))], stored);
  });

  test('insert and claim: at most as many jobs as the limit are claimed, and the others wait', async ({ store }) => {
    await claimOne(store, aJob());
    const id = await waiting(store);
    const { stored, handed } = await hand(store, id, jobs(5), { limit: 2 });
    assert.deepEqual(handed, stored.slice(0, 2));
    assert.deepEqual(ids(await claim(store, id)), stored.slice(2));
  });

  test('insert and claim: the most urgent jobs are claimed first', async ({ store }) => {
    const id = await waiting(store);
    const { stored, handed } = await hand(store, id, [aJob({ priority: 1 }), aJob({ priority: 2 })], { limit: 1 });
    assert.deepEqual([...handed, ...ids(await claim(store, id))], stored.toReversed());
  });

  test('insert and claim: a job that is due later is not claimed', async ({ store, advance }) => {
    await claimOne(store, aJob());
    const id = await waiting(store);
    const { stored, handed } = await hand(store, id, [aJob({ delayMs: 1_000 })]);
    assert.deepEqual(handed, []);
    const { status, attempt, workerId } = await readOne(store, stored[0] ?? 0);
    assert.deepEqual([status, attempt, workerId], ['scheduled', 0, null]);
    await advance(1_000);
    await store.promote(10, forever);
    assert.deepEqual(ids(await claim(store, id)), stored);
  });

  test('insert and claim: nothing is claimed from a paused queue', async ({ store }) => {
    await claimOne(store, aJob());
    const id = await waiting(store);
    await store.setQueue('default', { paused: true }, forever);
    const { stored, handed } = await hand(store, id, jobs(1));
    assert.deepEqual(handed, []);
    await store.setQueue('default', { paused: false }, forever);
    assert.deepEqual(ids(await claim(store, id)), stored);
  });

  test('insert and claim: max_running of the queue is respected', async ({ store }) => {
    await claimOne(store, aJob());
    const id = await waiting(store);
    await store.setQueue('default', { maxRunning: 2 }, forever);
    const { stored, handed } = await hand(store, id, jobs(3));
    const rest = ids(await claim(store, id));
    assert.deepEqual([...handed, ...rest], stored.slice(0, 1));
  });

  test('insert and claim: only jobs that fit the free resources are claimed', async ({ store }) => {
    const resources = { gpu: 1 };
    const offer = anOffer({ free: { gpu: 2 } });
    const other = await register(store);
    await submitOne(store, aJob({ resources }));
    await claim(store, other.id, { offer });
    const id = await waiting(store);
    const { stored, handed } = await hand(store, id, jobs(3, { resources }), { offer });
    const rest = await claim(store, id, { offer: anOffer({ free: { gpu: 2 - handed.length } }) });
    assert.deepEqual([...handed, ...ids(rest)], stored.slice(0, 2));
  });

  test('insert and claim: a job is not claimed if the worker lacks its tags or its handler', async ({ store }) => {
    const id = await waiting(store);
    const wanted = [aJob({ requires: ['gpu'] }), aJob({ handler: 'h' })];
    await submit(store, wanted);
    await claim(store, id);
    for (const job of wanted) assert.deepEqual((await hand(store, id, [job])).handed, []);
  });

  test('insert and claim: fair keys take turns', async ({ store }) => {
    const named = (fairKey: string) => aJob({ fairKey, name: fairKey });
    await submit(store, [named('a'), named('a'), named('a'), named('a')]);
    const id = await waiting(store, { limit: 1 });
    const request = { workerId: id, limit: 2, offer: anOffer(), claimSeq: 1 };
    const { claimed } = await store.insertAndClaim([named('b')], request, forever);
    const rest = await claim(store, id);
    assert.equal([...claimed, ...rest].map(({ name }) => name).join(''), 'abaa');
  });

  test('insert and claim: keys take turns from the first key on, even if its job was claimed at once', async ({
    store,
  }) => {
    await claimOne(store, aJob({ name: '-' }));
    const id = await waiting(store);
    await hand(store, id, [aJob({ fairKey: 'a' })]);
    await claim(store, id);
    await submit(store, jobs(2, { name: '-' }));
    await submit(store, [aJob({ fairKey: 'b', name: 'b' })]);
    const names = (await claim(store, id)).map(({ name }) => name);
    assert.equal(names.join(''), '-b-');
  });

  test('insert and claim: a worker that may not claim gets nothing, and the jobs are stored', async ({ store }) => {
    await claimOne(store, aJob());
    const drained = await waiting(store);
    await store.drainWorker(drained, forever);
    const gone = await waiting(store);
    await store.leaveWorker(gone, forever);
    const stored: number[] = [];
    for (const id of [drained, gone, 9_999]) {
      const answer = await hand(store, id, jobs(1));
      assert.deepEqual(answer.handed, []);
      stored.push(...answer.stored);
    }
    const { id } = await register(store);
    assert.deepEqual(ids(await claim(store, id)), stored);
  });

  test('insert and claim: a worker whose lease is over gets nothing, and the jobs are stored for others', async ({
    store,
    advance,
  }) => {
    // The lane exists from here on.
    await succeed(store, await claimOne(store, aJob()));
    const workerId = await waiting(store);
    await advance(LEASE_MS + 1_000);
    const work = nextHint(store, 'work');
    const { stored, handed } = await hand(store, workerId, jobs(2));
    assert.deepEqual([stored.length, handed], [2, []]);
    await work;
    assert.deepEqual(ids(await claim(store, await waiting(store))), []);
    assert.deepEqual(
      await Promise.all(stored.map(async (id) => (await readOne(store, id)).attempt)),
      [1, 1],
      'another worker got them',
    );
  });

  test('insert and claim: a job whose reply never reached the worker is taken back by its claim number without a charge', async ({
    store,
  }) => {
    await claimOne(store, aJob());
    const id = await waiting(store);
    const { stored, handed } = await hand(store, id, jobs(1), { claimSeq: 7 });
    assert.deepEqual(handed, stored);
    const [jobId = 0] = stored;
    await beat(store, id, [], 6);
    assert.equal((await readOne(store, jobId)).status, 'running');
    assert.deepEqual((await beat(store, id, [], 7))?.returned, [{ jobId, attempt: 1 }]);
    const { status, failures, attempt } = await readOne(store, jobId);
    assert.deepEqual([status, failures, attempt], ['pending', 0, 1]);
    assert.deepEqual(ids(await claim(store, id, { claimSeq: 8 })), stored);
  });

  test('insert and claim: a worker that dies loses the job as it would after a claim', async ({ store, advance }) => {
    await succeed(store, await claimOne(store, aJob()));
    const id = await waiting(store);
    const { handed } = await hand(store, id, jobs(1));
    await advance(LEASE_MS - 5_000);
    assert.deepEqual(await findLost(store), []);
    const lost = (await loseLeases(store, advance)).find((job) => job.id === handed[0]);
    assert.deepEqual([lost?.status, lost?.failures, lost?.losses], ['pending', 1, 1]);
  });

  test('insert and claim: subscribers get a hint', async ({ store }) => {
    await claimOne(store, aJob());
    const id = await waiting(store);
    const hinted = Promise.withResolvers<readonly number[]>();
    const unsubscribe = store.subscribe((hint) => {
      if (hint.topic === 'jobs') hinted.resolve(hint.ids);
    });
    const { handed } = await hand(store, id, jobs(1));
    assert.ok((await hinted.promise).includes(handed[0] ?? 0));
    unsubscribe();
  });
}

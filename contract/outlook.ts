/** What `why` tells is what a claim does: random states, in which both are asked about every pending job. */

import assert from 'node:assert/strict';
import { needsAll, ON_MEMBER_FAILURE } from '../src/core/gang.ts';
import { type Job, type NewJob, WAITING_STATUSES } from '../src/core/job.ts';
import { offerOf } from '../src/core/outlook.ts';
import type { NewWorker } from '../src/core/worker.ts';
import type { Store } from '../src/store/store.ts';
import type { Effort } from './effort.ts';
import { aJob, LEASE_MS } from './kit/builders.ts';
import { claim, decide, fail, forever, type Lease, register, report, submit, succeed } from './kit/steps.ts';
import { type Advance, type OpenStore, withStore } from './kit/store.ts';

const MINUTE_MS = 60_000;
/** Steps of the clock end nowhere near a window: on some stores the real time passes as well. */
const RATE_MS = 60 * MINUTE_MS;
const STEPS_MS = [25 * MINUTE_MS, 61 * MINUTE_MS];

type Pick = <T>(from: readonly T[]) => T;

/** Picks from lists in an order that follows from the seed. */
function picker(seed: number): Pick {
  let state = seed;
  return (from) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return from[(state >>> 16) % from.length] as (typeof from)[number];
  };
}

function randomWorker(pick: Pick): Partial<NewWorker> {
  return {
    slots: pick([1, 2, 3, 4]),
    resources: pick([{ gpu: 3, disk: 1 }, { gpu: 2 }, {}]),
    tags: pick([[], ['arm'], ['arm', 'ssd']]),
    queues: pick([null, null, ['default'], ['limited', 'rated']]),
    handlers: pick([[], ['send']]),
    leaseMs: 1_000 * LEASE_MS,
  };
}

function randomJob(pick: Pick): NewJob {
  const needsMore = pick([true, false]);
  const limits = [
    { key: 'a', max: pick([1, 2]) },
    { key: 'b', max: pick([1, 3]) },
  ];
  const rate = { key: pick(['r', 'a']), limit: pick([1, 2]), perMs: RATE_MS, burst: pick([0, 0, 1]) };
  return aJob({
    handler: pick([null, null, null, 'send']),
    resources: needsMore ? { gpu: pick([0, 1, 2, 3]), disk: pick([0, 0, 1]) } : {},
    requires: pick([[], [], [], ['arm'], ['ssd']]),
    priority: pick([0, 1, 2]),
    queue: pick(['default', 'default', 'default', 'limited', 'rated', 'paused']),
    timeoutMs: pick([1, 30]) * MINUTE_MS,
    onDisconnect: pick(['stop', 'stop', 'finish']),
    limits: pick([[], [], limits.slice(0, 1), limits.slice(1), limits]),
    rates: pick([[], [], [rate]]),
    onLimit: pick(['queue', 'queue', 'queue', 'skip']),
    fairKey: pick([null, null, 'x', 'y']),
  });
}

/** A gang of which members can start once the workers have accepted all places. */
function randomGang(pick: Pick, id: string): NewJob[] {
  const size = pick([1, 2, 3]);
  const spread = pick(['pack', 'spread'] as const);
  const gang = { id, size, min: pick([1, size]), spread, onMemberFailure: pick(ON_MEMBER_FAILURE) };
  const queue = pick(['default', 'limited', 'rated', 'paused']);
  const wanted = {
    resources: pick([{}, { gpu: 1 }]),
    priority: pick([0, 2]),
    tags: [`gang:${id}`],
    maxAttempts: 1,
    queue,
  };
  return Array.from({ length: size }, (_, rank) =>
    aJob({ ...wanted, gang: { ...gang, rank, timeoutMs: 24 * 60 * MINUTE_MS } }),
  );
}

function pendingJobs(store: Store): Promise<Job[]> {
  return store.list({ statuses: ['pending'] }, { before: null, limit: 1_000 }, forever);
}

/** The jobs that can start at each worker now, by `outlook`. */
async function startableAt(store: Store): Promise<Map<number, Set<number>>> {
  const startable = new Map<number, Set<number>>();
  for (const { id } of await pendingJobs(store)) {
    for (const { workerId, obstacle } of await store.outlook(id, forever)) {
      const jobs = startable.get(workerId) ?? new Set();
      startable.set(workerId, obstacle === null ? jobs.add(id) : jobs);
    }
  }
  return startable;
}

async function claimAs(store: Store, workerId: number): Promise<Lease[]> {
  const worker = (await store.workers(forever)).find(({ id }) => id === workerId);
  assert.ok(worker);
  const limit = worker.slots - worker.running;
  if (limit === 0) return [];
  return (await claim(store, workerId, { offer: offerOf(worker), limit })).map((job) => ({ job, workerId }));
}

/** The success of a member that waits for the others is held. */
async function complete(store: Store, lease: Lease): Promise<void> {
  const success = { exitCode: 0, result: null };
  if (needsAll(lease.job)) await decide(store, lease.job.id, { type: 'succeed', success });
  else await succeed(store, lease);
}

/** Changes what decides: attempts that end in some way, settings, the time. */
async function disturb(store: Store, advance: Advance, { pick, held }: { pick: Pick; held: Lease[] }): Promise<void> {
  for (let ends = pick([0, 1, 2]); ends > 0; ends -= 1) {
    const lease = held.shift();
    if (lease === undefined) break;
    const end = pick(['succeed', 'fail', 'return'] as const);
    if (end === 'succeed') await complete(store, lease);
    else if (end === 'fail') await fail(store, lease);
    else await report(store, lease, { type: 'returned' });
  }
  const change = pick(['none', 'limit', 'rate', 'close', 'cancel', 'pause', 'time', 'time'] as const);
  if (change === 'limit') await store.setLimit('a', pick([1, 2, 3, null]), forever);
  if (change === 'rate') await store.setQueue('rated', { rate: { limit: 2, perMs: RATE_MS, burst: 0 } }, forever);
  if (change === 'close') await store.closeRate(pick(['r', 'a']), 30 * MINUTE_MS, forever);
  if (change === 'pause') await store.setQueue('paused', { paused: pick([true, false]) }, forever);
  if (change === 'time') await advance(pick(STEPS_MS));
  if (change === 'cancel') {
    const [first] = await pendingJobs(store);
    if (first !== undefined) await decide(store, first.id, { type: 'cancel' });
  }
}

async function compareWithClaims(store: Store, advance: Advance, seed: number): Promise<void> {
  const pick = picker(seed);
  const workers = [await register(store, randomWorker(pick)), await register(store, randomWorker(pick))];
  const held: Lease[] = [];
  for (let round = 0; round < 5; round += 1) {
    await submit(
      store,
      Array.from({ length: pick([1, 3, 6]) }, () => randomJob(pick)),
    );
    if (pick([true, false])) await submit(store, randomGang(pick, `${seed}.${round}`));
    await store.placeGangs(forever);
    const { id } = pick(workers);
    const said = (await startableAt(store)).get(id) ?? new Set();
    const claimed = await claimAs(store, id);
    const byId = (a: number, b: number) => a - b;
    const taken = claimed.map(({ job }) => job.id).sort(byId);
    assert.deepEqual([...said].sort(byId), taken, `seed ${seed}, round ${round}`);
    held.push(...claimed);
    await disturb(store, advance, { pick, held });
  }
  for (const lease of held) await complete(store, lease);
  const left = await store.list({ statuses: WAITING_STATUSES }, { before: null, limit: 1_000 }, forever);
  for (const { id } of left) await decide(store, id, { type: 'cancel' });
  const gangs = await store.gangs([...new Set((await store.places(forever)).map(({ gangId }) => gangId))], forever);
  const dropped = gangs.map(({ id: gangId, term }) => ({ gangId, term, unlessStarted: false }));
  if (dropped.length > 0) await store.dropPlaces(dropped, forever);
  for (const { id } of workers) await store.leaveWorker(id, forever);
}

/** A job for a worker without tags and resources. Only jobs of one queue have keys, so that no other queue takes their places. */
function randomPlainJob(pick: Pick): NewJob {
  const job = { ...randomJob(pick), handler: null, resources: {}, requires: pick([[], [], [], ['arm']]) };
  const queue = pick(['default', 'default', 'default', 'paused', 'other']);
  return queue === 'default' ? { ...job, queue } : { ...job, queue, limits: [], rates: [] };
}

/** What waits and is never claimed: members of a gang that has no places. */
function waitingGang(id: string): NewJob[] {
  const gang = { id, size: 2, min: 2, spread: 'pack', onMemberFailure: 'restart', timeoutMs: MINUTE_MS } as const;
  return [0, 1].map((rank) => aJob({ priority: 2, tags: [`gang:${id}`], gang: { ...gang, rank } }));
}

async function comparePositions(store: Store, advance: Advance, seed: number): Promise<void> {
  const pick = picker(seed);
  const { id: workerId } = await register(store, { slots: 1_000, resources: {}, leaseMs: 1_000 * LEASE_MS });
  const gang = await submit(store, waitingGang(`waits${seed}`));
  let held: Lease[] = [];
  for (let round = 0; round < 4; round += 1) {
    await submit(
      store,
      Array.from({ length: pick([3, 6, 12]) }, () => randomPlainJob(pick)),
    );
    const positions = new Map<number, number>();
    for (const { id } of await pendingJobs(store)) positions.set(id, await store.countAhead(id, 1_000, forever));
    const claimed = (await claim(store, workerId, { limit: pick([1, 4, 1_000]) })).filter(
      ({ queue }) => queue === 'default',
    );
    const said = claimed.map(({ id }) => positions.get(id));
    assert.deepEqual(said, [...claimed.keys()], `seed ${seed}, round ${round}`);
    held.push(...claimed.map((job) => ({ job, workerId })));
    const ending = held.filter(() => pick([true, false]));
    held = held.filter((lease) => !ending.includes(lease));
    for (const lease of ending) await succeed(store, lease);
    if (pick([true, false])) await advance(pick(STEPS_MS));
  }
  for (const { id } of [...(await pendingJobs(store)), ...gang]) await decide(store, id, { type: 'cancel' });
  for (const lease of held) await succeed(store, lease);
  await store.leaveWorker(workerId, forever);
}

export function exerciseOutlook(open: OpenStore, { outlooks }: Effort): void {
  const test = withStore(open);

  test('outlook: says start exactly for the jobs that the next claim takes', async ({ store, advance }) => {
    await store.setQueue('limited', { maxRunning: 2 }, forever);
    await store.setQueue('paused', { paused: true }, forever);
    for (let seed = 1; seed <= outlooks; seed += 1) await compareWithClaims(store, advance, seed);
  });

  test('outlook: the position of a job is the number of jobs of its queue that are claimed before it', async ({
    store,
    advance,
  }) => {
    await store.setQueue('paused', { paused: true }, forever);
    for (let seed = 1; seed <= outlooks; seed += 1) await comparePositions(store, advance, seed);
  });

  test('outlook: counts what the same claim would start before a job', async ({ store }) => {
    await register(store);
    const limits = [{ key: 'a', max: 1 }];
    const rates = [{ key: 'r', limit: 1, perMs: RATE_MS, burst: 0 }];
    const jobs = await submit(store, [aJob({ limits }), aJob({ limits }), aJob({ rates }), aJob({ rates })]);
    const obstacles = await Promise.all(jobs.map(async ({ id }) => (await store.outlook(id, forever))[0]?.obstacle));
    assert.deepEqual(obstacles, [null, 'slots', null, 'slots']);
  });
}

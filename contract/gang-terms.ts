/** Terms of gangs: members that succeed together, stop together and start again together. */

import assert from 'node:assert/strict';
import type { Gang, Place } from '../src/core/gang.ts';
import { fateOf } from '../src/core/gang-fate.ts';
import type { Job, NewJob } from '../src/core/job.ts';
import type { Outcome } from '../src/core/outcome.ts';
import { type JobEvent, transition } from '../src/core/transition.ts';
import type { Store } from '../src/store/store.ts';
import { aJob, anOffer, aStep, aWorkflow, LEASE_MS } from './kit/builders.ts';
import { settleDown } from './kit/graph.ts';
import {
  beat,
  claim,
  FAILED,
  forever,
  ids,
  type Lease,
  readOne,
  register,
  submit,
  submitOne,
  succeed,
} from './kit/steps.ts';
import { type OpenStore, withStore } from './kit/store.ts';

function aGang(id: string, wanted: Partial<NewJob> = {}, rules: Partial<Gang> = {}): NewJob[] {
  const size = rules.size ?? 2;
  const all = { id, size, min: size, spread: 'spread', onMemberFailure: 'restart', timeoutMs: 600_000 } as const;
  const gang = { ...all, ...rules };
  return Array.from({ length: gang.size }, (_, rank) =>
    aJob({ tags: [`gang:${id}`], ...wanted, gang: { ...gang, rank } }),
  );
}

/** Two workers with one slot, and a gang of two whose members run there. */
async function started(store: Store, wanted: Partial<NewJob> = {}, rules: Partial<Gang> = {}) {
  const workers = [await site(store), await site(store)];
  const members = ids(await submit(store, aGang('g', wanted, rules)));
  return { workers, members, leases: await start(store, workers) };
}

async function site(store: Store): Promise<number> {
  return (await register(store, { slots: 1, leaseMs: 100 * LEASE_MS })).id;
}

/** Gives places, and claims until all members run. By rank. */
async function start(store: Store, workers: readonly number[], size = workers.length): Promise<Lease[]> {
  await store.placeGangs(forever);
  const leases: Lease[] = [];
  for (let round = 0; round < 2; round += 1) {
    for (const workerId of workers) {
      if (leases.some((lease) => lease.workerId === workerId)) continue;
      const jobs = await claim(store, workerId, { offer: anOffer(), limit: 1 });
      leases.push(...jobs.map((job) => ({ job, workerId })));
    }
  }
  assert.equal(leases.length, size, 'not all members have started');
  return leases.sort((a, b) => (a.job.gang?.rank ?? 0) - (b.job.gang?.rank ?? 0));
}

async function happen(store: Store, jobId: number, event: JobEvent): Promise<Job | undefined> {
  const job = await readOne(store, jobId);
  const [gang] = await store.gangs([job.gang?.id ?? ''], forever);
  const change = transition(job, event, 0.5, gang);
  return change && (await store.applyChanges([change], forever))[0];
}

function end(store: Store, { job }: Lease, outcome: Exclude<Outcome, { type: 'succeeded' }>) {
  return happen(store, job.id, { type: 'settle', outcome });
}

function hold(store: Store, { job }: Lease, result: unknown = null) {
  return happen(store, job.id, { type: 'succeed', success: { exitCode: 0, result } });
}

const STOPPED = { type: 'cancelled', error: null } as const;
const INTERRUPTED = { type: 'interrupted', error: 'drained' } as const;

/** One look of the placer at its gang. */
async function judge(store: Store): Promise<void> {
  const places = await store.places(forever);
  const [gang] = await store.gangs([places[0]?.gangId ?? ''], forever);
  if (gang === undefined) return;
  const jobs = await store.read(
    places.map(({ jobId }: Place) => jobId),
    forever,
  );
  const online = new Set((await store.workers(forever)).filter(({ state }) => state === 'online').map(({ id }) => id));
  const now = await store.now(forever);
  const fate = fateOf(gang, places, { jobs: new Map(jobs.map((job) => [job.id, job])), online, now });
  const { id: gangId, term } = gang;
  if (fate.stop) await store.stopGang(gangId, term, forever);
  const changes = jobs.flatMap((job) => {
    const event = fate.events.get(job.id);
    return (event && transition(job, event, 0.5, gang)) ?? [];
  });
  await store.applyChanges(changes, forever);
  if (fate.drop !== null) await store.dropPlaces([{ gangId, term, unlessStarted: fate.drop !== 'always' }], forever);
}

async function statuses(store: Store, members: readonly number[]): Promise<string[]> {
  return (await store.read(members, forever)).sort((a, b) => a.id - b.id).map(({ status }) => status);
}

async function row(store: Store) {
  const [gang] = await store.gangs(['g'], forever);
  assert.ok(gang);
  return gang;
}

export function exerciseGangTerms(open: OpenStore): void {
  const test = withStore(open);

  test('gang terms: a member that succeeds frees its worker, and is done when all have succeeded', async ({
    store,
  }) => {
    const { members, leases } = await started(store);
    const [one, two] = leases as [Lease, Lease];
    const child = await submitOne(store, aJob({ dependsOn: [{ jobId: members[0] ?? 0, condition: 'success' }] }));
    assert.equal((await succeed(store, one, 'early')).result, 'lease_lost', 'the store leaves it to be decided');
    await hold(store, one, { loss: 0.1 });
    assert.deepEqual(await statuses(store, members), ['blocked', 'running']);
    await judge(store);
    assert.deepEqual(await statuses(store, members), ['blocked', 'running']);
    const held = (await store.workers(forever)).map(({ running }) => running);
    assert.deepEqual(held, [0, 1], 'its worker is free');
    await hold(store, two);
    await judge(store);
    const [first, second] = (await store.read(members, forever)).sort((a, b) => a.id - b.id);
    assert.deepEqual([first?.status, second?.status], ['done', 'done']);
    assert.deepEqual([first?.result, second?.result], [{ loss: 0.1 }, null]);
    assert.deepEqual([first?.exitCode, first?.workerId], [0, one.workerId]);
    assert.deepEqual(
      (await store.attempts(first?.id ?? 0, forever)).map(({ attempt, outcome }) => [attempt, outcome]),
      [[1, 'done']],
    );
    assert.equal((await readOne(store, child.id)).status, 'pending');
    await judge(store);
    assert.deepEqual(await store.places(forever), []);
  });

  test('gang terms: if a member fails, the other is stopped, nobody else pays, and both start again', async ({
    store,
  }) => {
    const { workers, members, leases } = await started(store, { backoff: { ...aJob().backoff, type: 'none' } });
    const [one, two] = leases as [Lease, Lease];
    assert.deepEqual(await row(store), {
      id: 'g',
      jobId: members[0],
      term: 1,
      failures: 0,
      charged: 0,
      stops: 0,
      stopping: false,
    });
    await end(store, one, FAILED);
    assert.deepEqual(await statuses(store, members), ['pending', 'running']);
    assert.equal(await store.placeGangs(forever), 0, 'not before both have stopped');
    await judge(store);
    const orders = await beat(store, two.workerId, [two]);
    assert.deepEqual(orders?.cancel, [{ jobId: two.job.id, attempt: 1 }]);
    assert.equal((await readOne(store, two.job.id)).gangStop, true);
    assert.equal(await store.placeGangs(forever), 0);
    await end(store, two, STOPPED);
    const other = await readOne(store, two.job.id);
    assert.deepEqual([other.status, other.failures, other.interruptions], ['pending', 0, 0]);
    assert.deepEqual([other.cancelRequestedAt, other.gangStop], [null, false]);
    assert.equal((await store.attempts(other.id, forever))[0]?.outcome, 'stopped');
    await judge(store);
    assert.deepEqual(await store.places(forever), []);
    const again = await start(store, workers);
    assert.deepEqual(ids(again.map(({ job }) => job)), members);
    const { term, failures, stops, charged, stopping } = await row(store);
    assert.deepEqual(
      { term, failures, stops, charged, stopping },
      { term: 2, failures: 1, stops: 1, charged: 1, stopping: false },
    );
    for (const lease of again) await hold(store, lease);
    await judge(store);
    assert.deepEqual(await statuses(store, members), ['done', 'done']);
  });

  test('gang terms: a success of the term that failed does not count for the next one', async ({ store }) => {
    const { workers, members, leases } = await started(store, { backoff: { ...aJob().backoff, type: 'none' } });
    const [one, two] = leases as [Lease, Lease];
    await hold(store, one, 'old');
    await end(store, two, FAILED);
    await judge(store);
    assert.deepEqual(await statuses(store, members), ['pending', 'pending']);
    await judge(store);
    const again = await start(store, workers);
    await hold(store, again[1] as Lease);
    await judge(store);
    assert.deepEqual(await statuses(store, members), ['running', 'blocked']);
    assert.equal((await hold(store, again[0] as Lease, 'new'))?.status, 'blocked');
    await judge(store);
    assert.equal((await readOne(store, members[0] ?? 0)).result, 'new');
    assert.deepEqual(
      (await store.attempts(members[0] ?? 0, forever)).map(({ outcome }) => outcome),
      ['done', 'done'],
    );
  });

  test('gang terms: two members that fail in one term cost the gang one failure; the last one ends it', async ({
    store,
  }) => {
    const calm = { backoff: { ...aJob().backoff, type: 'none' }, maxAttempts: 2 } as const;
    const { workers, members, leases } = await started(store, calm);
    for (const lease of leases) await end(store, lease, FAILED);
    await judge(store);
    await judge(store);
    const [one, two] = (await start(store, workers)) as [Lease, Lease];
    assert.equal((await row(store)).failures, 1);
    assert.equal((await end(store, one, FAILED))?.status, 'failed');
    await judge(store);
    await end(store, two, STOPPED);
    assert.deepEqual(await statuses(store, members), ['failed', 'cancelled']);
    await judge(store);
    assert.deepEqual(await store.places(forever), []);
    // A retry by a person gives the gang its budget back.
    for (const id of members) await happen(store, id, { type: 'retry' });
    await start(store, workers);
    assert.deepEqual([(await row(store)).failures, (await row(store)).term], [0, 3]);
  });

  test('gang terms: a term that ends by an interruption costs the gang nothing, also after one that did', async ({
    store,
  }) => {
    const { workers, leases } = await started(store, { backoff: { ...aJob().backoff, type: 'none' }, maxAttempts: 3 });
    const costs: number[] = [];
    let members = leases;
    for (const outcome of [FAILED, INTERRUPTED]) {
      const [one, two] = members as [Lease, Lease];
      await end(store, one, outcome);
      await judge(store);
      await end(store, two, STOPPED);
      await judge(store);
      members = await start(store, workers);
      costs.push((await row(store)).failures);
    }
    assert.deepEqual(costs, [1, 1]);
  });

  test('gang terms: the success of a member that is being stopped, and a place that is dropped late, change nothing', async ({
    store,
  }) => {
    const { workers, members, leases } = await started(store, { backoff: { ...aJob().backoff, type: 'none' } });
    const [one, two] = leases as [Lease, Lease];
    await end(store, one, FAILED);
    await judge(store);
    assert.equal((await hold(store, two, 'too late'))?.status, 'pending');
    await judge(store);
    const again = await start(store, workers);
    await store.dropPlaces([{ gangId: 'g', term: 1, unlessStarted: false }], forever);
    await store.dropPlaces([{ gangId: 'g', term: 2, unlessStarted: true }], forever);
    assert.equal((await store.places(forever)).length, 2, 'they are of another term, or have started');
    assert.equal(await store.stopGang('g', 1, forever), false);
    assert.equal((await row(store)).failures, 1);
    assert.equal((await succeed(store, two)).result, 'lease_lost', 'the attempt of the earlier term');
    assert.deepEqual(await statuses(store, members), ['running', 'running']);
    assert.equal((await readOne(store, members[1] ?? 0)).result, null);
    assert.equal(again.length, 2);
  });

  test('gang terms: a member whose claim was never answered goes back with its gang, also when it was asked to stop', async ({
    store,
  }) => {
    const workers = [await site(store), await site(store)];
    const members = ids(await submit(store, aGang('g', { backoff: { ...aJob().backoff, type: 'none' } })));
    await store.placeGangs(forever);
    await claim(store, workers[0] ?? 0, { limit: 1, claimSeq: 1 });
    const [second] = await claim(store, workers[1] ?? 0, { limit: 1, claimSeq: 1 });
    const [first] = await claim(store, workers[0] ?? 0, { limit: 1, claimSeq: 2 });
    assert.ok(first && second);
    await end(store, { job: second, workerId: workers[1] ?? 0 }, FAILED);
    await judge(store);
    await beat(store, workers[0] ?? 0, [], 2);
    assert.deepEqual(await statuses(store, members), ['pending', 'pending']);
    await judge(store);
    await start(store, workers);
    const { failures, stops } = await row(store);
    assert.deepEqual({ failures, stops }, { failures: 1, stops: 1 });
  });

  test('gang terms: a person cancels a member that is being stopped, and the gang ends', async ({ store }) => {
    const { members, leases } = await started(store);
    const [one, two] = leases as [Lease, Lease];
    await end(store, one, INTERRUPTED);
    await judge(store);
    await happen(store, two.job.id, { type: 'cancel' });
    const asked = await readOne(store, two.job.id);
    assert.deepEqual([asked.gangStop, asked.cancelRequestedAt !== null], [false, true]);
    await end(store, two, STOPPED);
    await judge(store);
    assert.deepEqual(await statuses(store, members), ['cancelled', 'cancelled']);
  });

  test('gang terms: a decision made before a person cancelled is not written', async ({ store }) => {
    const { leases } = await started(store);
    const [one, two] = leases as [Lease, Lease];
    await end(store, one, INTERRUPTED);
    await judge(store);
    const before = await readOne(store, two.job.id);
    const change = transition(before, { type: 'settle', outcome: STOPPED }, 0.5, await row(store));
    await happen(store, two.job.id, { type: 'cancel' });
    assert.ok(change);
    assert.deepEqual(await store.applyChanges([change], forever), [undefined]);
  });

  test('gang terms: with fail, a member is done only with the others, too; with continue, at once', async ({
    store,
  }) => {
    const { members, leases } = await started(store, { maxAttempts: 1 }, { onMemberFailure: 'fail' });
    const [one, two] = leases as [Lease, Lease];
    await hold(store, one);
    await end(store, two, FAILED);
    await judge(store);
    assert.deepEqual(await statuses(store, members), ['cancelled', 'failed']);
    await judge(store);
    const loose = ids(await submit(store, aGang('h', { maxAttempts: 1 }, { onMemberFailure: 'continue' })));
    const [first] = (await start(store, [one.workerId, two.workerId])) as [Lease];
    assert.equal((await succeed(store, first)).result, 'ok');
    assert.deepEqual(await statuses(store, loose), ['done', 'running']);
  });

  test('gang terms: with continue, retried members start together without those that are done, with their ranks', async ({
    store,
  }) => {
    const workers = [await site(store), await site(store), await site(store)];
    const members = ids(await submit(store, aGang('g', { maxAttempts: 1 }, { size: 3, onMemberFailure: 'continue' })));
    const [one, two, three] = (await start(store, workers)) as [Lease, Lease, Lease];
    await end(store, one, FAILED);
    await end(store, three, FAILED);
    for (const lease of [one, three]) await happen(store, lease.job.id, { type: 'retry' });
    await judge(store);
    assert.deepEqual(await statuses(store, members), ['pending', 'running', 'pending'], 'the retry is not lost');
    assert.equal(await store.placeGangs(forever), 0, 'not before the other has ended');
    await succeed(store, two);
    await judge(store);
    const again = await start(store, workers, 2);
    assert.deepEqual(
      again.map(({ job }) => [job.gang?.rank, job.gangContext?.hosts.map((host) => host !== '')]),
      [0, 2].map((rank) => [rank, [true, false, true]]),
    );
    for (const lease of again) assert.equal((await succeed(store, lease)).result, 'ok');
    await judge(store);
    assert.deepEqual([await statuses(store, members), await store.places(forever)], [['done', 'done', 'done'], []]);
  });

  test('gang terms: with continue, a member that is retried when all others are done runs alone, also if it never started', async ({
    store,
  }) => {
    const workers = [await site(store), await site(store)];
    const members = ids(await submit(store, aGang('g', { maxAttempts: 1 }, { onMemberFailure: 'continue' })));
    await store.placeGangs(forever);
    const late = (await store.places(forever))[1]?.workerId ?? 0;
    const [other = 0] = workers.filter((workerId) => workerId !== late);
    // The worker of the second member holds its place, and vanishes before it starts the member.
    assert.deepEqual(await claim(store, late, { offer: anOffer(), limit: 1 }), []);
    const [job] = await claim(store, other, { offer: anOffer(), limit: 1 });
    assert.ok(job);
    await store.leaveWorker(late, forever);
    await judge(store);
    assert.deepEqual(await statuses(store, members), ['running', 'cancelled']);
    await succeed(store, { job, workerId: other });
    await judge(store);
    assert.equal((await happen(store, members[1] ?? 0, { type: 'retry' }))?.attempt, 0);
    const [alone] = await start(store, [other]);
    assert.deepEqual([alone?.job.gang?.rank, alone?.job.gangContext?.hosts[0]], [1, '']);
  });

  test('gang terms: with continue, a gang that has not begun does not start without a member', async ({ store }) => {
    await site(store);
    await submit(store, aGang('g', { maxAttempts: 1 }, { onMemberFailure: 'continue' }).slice(1));
    assert.equal(await store.placeGangs(forever), 0);
  });

  test('gang min: the first ranks start with the places that are free; the others wait, and are skipped in the end', async ({
    store,
  }) => {
    const workers = [await site(store), await site(store)];
    const members = ids(await submit(store, aGang('g', {}, { size: 4, min: 2 })));
    const leases = await start(store, workers);
    assert.deepEqual(
      leases.map(({ job }) => [job.gang?.rank, job.gangContext?.hosts.length]),
      [0, 1].map((rank) => [rank, 2]),
    );
    const places = (await store.places(forever)).map(({ rank, size, workerId }) => [rank, size, workerId !== null]);
    assert.deepEqual(
      places,
      [0, 1, 2, 3].map((rank) => [rank, 2, rank < 2]),
    );
    assert.deepEqual(ids(await claim(store, await site(store), { limit: 1 })), [], 'the gang has started without them');
    await judge(store);
    assert.deepEqual(await statuses(store, members), ['running', 'running', 'pending', 'pending']);
    for (const lease of leases) await hold(store, lease);
    await judge(store);
    assert.deepEqual(await statuses(store, members), ['done', 'done', 'skipped', 'skipped']);
    const found = await store.list({ reason: 'gang' }, { before: null, limit: 9 }, forever);
    assert.deepEqual(ids(found), members.slice(2).reverse());
    await assert.rejects(happen(store, members[3] ?? 0, { type: 'retry' }), /its gang has succeeded without it/);
    await judge(store);
    assert.deepEqual(await store.places(forever), []);
  });

  test('gang min: a gang that starts again has as many members as there are places then', async ({ store }) => {
    const workers = [await site(store), await site(store)];
    const wanted = { backoff: { ...aJob().backoff, type: 'none' } } as const;
    const members = ids(await submit(store, aGang('g', wanted, { size: 3, min: 2 })));
    const [one, two] = (await start(store, workers)) as [Lease, Lease];
    await end(store, one, FAILED);
    await judge(store);
    await end(store, two, STOPPED);
    await judge(store);
    assert.deepEqual(await statuses(store, members), ['pending', 'pending', 'pending']);
    workers.push(await site(store));
    const again = await start(store, workers);
    assert.deepEqual(
      again.map(({ job }) => [job.gang?.rank, job.gangContext?.hosts.length]),
      [0, 1, 2].map((rank) => [rank, 3]),
    );
    assert.equal((await row(store)).failures, 1);
    for (const lease of again) await hold(store, lease);
    await judge(store);
    assert.deepEqual(await statuses(store, members), ['done', 'done', 'done']);
  });

  test('gang min: the end of a member ends those that were left out, and a retry starts all', async ({ store }) => {
    const workers = [await site(store), await site(store)];
    const rules = { size: 3, min: 1, onMemberFailure: 'fail' } as const;
    const members = ids(await submit(store, aGang('g', { maxAttempts: 1 }, rules)));
    const [one, two] = (await start(store, workers)) as [Lease, Lease];
    await end(store, one, FAILED);
    await judge(store);
    await end(store, two, STOPPED);
    assert.deepEqual(await statuses(store, members), ['failed', 'cancelled', 'cancelled']);
    for (const id of members) await happen(store, id, { type: 'retry' });
    await judge(store);
    assert.equal((await start(store, workers)).length, 2);
  });

  test('gang min: without room for as many, min places are held; max_running counts, too', async ({ store }) => {
    const { id } = await register(store, { slots: 3, leaseMs: 100 * LEASE_MS });
    await submit(store, [aJob(), aJob()]);
    const busy = await claim(store, id, { limit: 2 });
    const members = ids(await submit(store, aGang('g', {}, { size: 3, min: 2 })));
    assert.equal(await store.placeGangs(forever), 2);
    await store.setQueue('few', { maxRunning: 2 }, forever);
    const few = ids(await submit(store, aGang('h', { queue: 'few', requires: ['x'] }, { size: 4, min: 2 })));
    const other = await register(store, { slots: 9, tags: ['x'], leaseMs: 100 * LEASE_MS });
    assert.equal(await store.placeGangs(forever), 2, 'as many as the queue may run');
    const started = await claim(store, other.id, { limit: 9, offer: anOffer({ tags: ['x'] }) });
    assert.deepEqual(ids(started), few.slice(0, 2));
    assert.deepEqual(await claim(store, id, { limit: 1 }), []);
    await succeed(store, { job: busy[0] as Lease['job'], workerId: id });
    assert.deepEqual(ids(await claim(store, id, { limit: 2 })), members.slice(0, 2));
  });

  test('gang terms: the items of a step can be a gang; the step ends with it, and its children follow', async ({
    store,
  }) => {
    const workers = [await site(store), await site(store)];
    const { gang } = aGang('')[0] as NewJob;
    const job = { gang, backoff: { ...aJob().backoff, type: 'none' } } as const;
    const steps = [
      aStep('train', { job, forEach: { items: [0, 1], maxParallel: null } }),
      aStep('after', { parents: [0] }),
    ];
    const { workflow } = await store.insertWorkflow(aWorkflow(steps), {}, forever);
    await settleDown(store);
    const [group, after] = await store
      .list({ workflowId: workflow.id }, { before: null, limit: 9 }, forever)
      .then((all) => all.filter(({ groupId }) => groupId === null).sort((a, b) => a.id - b.id));
    const leases = await start(store, workers);
    assert.deepEqual(
      leases.map(({ job: { gang: own, tags } }) => [own?.id, own?.rank, tags]),
      [0, 1].map((rank) => [`step-${group?.id}`, rank, [`gang:step-${group?.id}`]]),
    );
    await end(store, leases[0] as Lease, FAILED);
    await judge(store);
    await end(store, leases[1] as Lease, STOPPED);
    await judge(store);
    for (const [rank, lease] of (await start(store, workers)).entries()) await hold(store, lease, { rank });
    await settleDown(store);
    assert.equal((await readOne(store, group?.id ?? 0)).status, 'running');
    await judge(store);
    await settleDown(store);
    const done = await readOne(store, group?.id ?? 0);
    assert.deepEqual([done.status, done.result], ['done', [{ rank: 0 }, { rank: 1 }]]);
    assert.equal((await readOne(store, after?.id ?? 0)).status, 'pending');
  });

  test('gang terms: a gang is forgotten with its jobs, and not before', async ({ store, advance }) => {
    const { leases } = await started(store);
    for (const lease of leases) await hold(store, lease);
    await judge(store);
    await judge(store);
    const retention = { doneMs: 1_000, otherMs: 1_000, statsMs: 1_000 };
    assert.equal(await store.sweep('gang', retention, 100, forever), 0);
    assert.equal((await store.gangs(['g'], forever)).length, 1);
    await advance(2_000);
    await store.prune(retention, 100, forever);
    assert.equal(await store.sweep('gang', retention, 100, forever), 1);
    assert.deepEqual(await store.gangs(['g'], forever), []);
  });
}

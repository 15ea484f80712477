import assert from 'node:assert/strict';
import type { Gang, Place } from '../src/core/gang.ts';
import type { NewJob } from '../src/core/job.ts';
import { offerOf } from '../src/core/outlook.ts';
import type { NewWorker, WorkerRow } from '../src/core/worker.ts';
import type { Store } from '../src/store/store.ts';
import { aJob, anOffer, LEASE_MS } from './kit/builders.ts';
import { claim, decide, forever, ids, type Lease, register, submit, submitOne, succeed } from './kit/steps.ts';
import { type OpenStore, withStore } from './kit/store.ts';

let gangs = 0;

function aGang(size: number, wanted: Partial<NewJob> = {}, rules: Partial<Gang> = {}): NewJob[] {
  gangs += 1;
  const gang = {
    id: `g${gangs}`,
    size,
    min: size,
    spread: 'pack',
    onMemberFailure: 'continue',
    timeoutMs: 600_000,
    ...rules,
  } as const;
  return Array.from({ length: size }, (_, rank) =>
    aJob({ tags: [`gang:${gang.id}`], maxAttempts: 1, ...wanted, gang: { ...gang, rank } }),
  );
}

function aSite(store: Store, wanted: Partial<NewWorker> = {}): Promise<WorkerRow> {
  return register(store, { slots: 2, resources: { gpu: 2 }, leaseMs: 100 * LEASE_MS, ...wanted });
}

async function rowOf(store: Store, workerId: number): Promise<WorkerRow> {
  return (await store.workers(forever)).find(({ id }) => id === workerId) ?? assert.fail();
}

/** Claims with what the store believes to be free at the worker. */
async function claimFree(store: Store, workerId: number): Promise<Lease[]> {
  const worker = await rowOf(store, workerId);
  const limit = worker.slots - worker.running;
  if (limit <= 0) return [];
  const jobs = await claim(store, workerId, { offer: offerOf(worker), limit });
  return jobs.map((job) => ({ job, workerId }));
}

/** Deletes the places of gangs in their present terms. */
async function drop(store: Store, ...ids: string[]): Promise<void> {
  const rows = await store.gangs(ids, forever);
  await store.dropPlaces(
    rows.map(({ id, term }) => ({ gangId: id, term, unlessStarted: false })),
    forever,
  );
}

function taken(leases: readonly Lease[]): number[] {
  return leases.map(({ job }) => job.id).sort((a, b) => a - b);
}

function statesOf(places: readonly Place[]): string[] {
  return places.map(({ accepted, started }) => (started ? 'started' : accepted ? 'accepted' : 'given'));
}

export function exerciseGangs(open: OpenStore): void {
  const test = withStore(open);
  const gpu = (amount: number) => ({ resources: { gpu: amount } });

  test('gangs: a job that waits for what members take is expected when they end, from the claim on that starts them', async ({
    store,
  }) => {
    const { id: workerId } = await aSite(store, { slots: 4, resources: { gpu: 3 } });
    const members = await submit(store, aGang(2, { resources: { gpu: 1 }, timeoutMs: 60_000, killGraceMs: 5_000 }));
    const waiting = await submitOne(store, aJob({ resources: { gpu: 2 } }));
    assert.equal(await store.placeGangs(forever), 2);
    const started = await claim(store, workerId, { limit: 3, offer: anOffer({ free: { gpu: 3 } }) });
    assert.deepEqual(ids(started), ids(members));
    const { reserved } = await rowOf(store, workerId);
    assert.equal(reserved?.jobId, waiting.id);
    const expected = (started[0]?.startedAt ?? 0) + 65_000;
    assert.ok(Math.abs((reserved?.startsAt ?? 0) - expected) < 1_000, `${reserved?.startsAt}, not ${expected}`);
  });

  test('gangs: members are not claimed before all have a place that is held', async ({ store }) => {
    const [one, two] = [await aSite(store, { address: '10.0.0.1' }), await aSite(store, { host: 'two' })];
    const members = ids(await submit(store, aGang(3, gpu(1))));
    assert.deepEqual(await claimFree(store, one.id), []);
    assert.equal(await store.placeGangs(forever), 3);
    assert.equal(await store.placeGangs(forever), 0);
    assert.deepEqual(await claimFree(store, one.id), [], 'the other worker holds nothing yet');
    assert.deepEqual(statesOf(await store.places(forever)), ['accepted', 'accepted', 'given']);
    const second = await claimFree(store, two.id);
    assert.deepEqual(taken(second), members.slice(2));
    const first = await claimFree(store, one.id);
    assert.deepEqual(taken(first), members.slice(0, 2));
    for (const { job } of [...first, ...second]) {
      assert.deepEqual(job.gangContext, { hosts: ['10.0.0.1', '10.0.0.1', 'two'] });
      assert.equal(job.gang?.rank, members.indexOf(job.id));
    }
    assert.deepEqual(statesOf(await store.places(forever)), ['started', 'started', 'started']);
    for (const lease of [...first, ...second]) assert.equal((await succeed(store, lease)).result, 'ok');
    await drop(store, first[0]?.job.gang?.id ?? '');
    assert.deepEqual(await store.places(forever), []);
  });

  test('gangs: a gang that does not fit takes no place at all, and blocks no other job if it never can', async ({
    store,
  }) => {
    const { id } = await aSite(store);
    await submit(store, aGang(3, gpu(1)));
    assert.equal(await store.placeGangs(forever), 0);
    const small = ids(await submit(store, aGang(2, gpu(1))));
    assert.equal(await store.placeGangs(forever), 2);
    assert.deepEqual(taken(await claimFree(store, id)), small);
  });

  test('gangs: what becomes free is held for the first gang that would fit idle workers, for one gang at a time', async ({
    store,
  }) => {
    const [one, two] = [await aSite(store), await aSite(store)];
    await submit(store, [aJob(gpu(1)), aJob(gpu(2))]);
    const busy = await claimFree(store, one.id);
    assert.equal(busy.length, 1);
    const other = await claimFree(store, two.id);
    const gang = ids(await submit(store, aGang(4, gpu(1))));
    await submit(store, aGang(4, gpu(1)));
    assert.equal(await store.placeGangs(forever), 4, 'the second gang gets none');
    await submit(store, [aJob(gpu(1)), aJob(gpu(1)), aJob()]);
    assert.deepEqual(await claimFree(store, one.id), [], 'the free half is held');
    for (const lease of [...busy, ...other]) await succeed(store, lease);
    const started = [...(await claimFree(store, one.id)), ...(await claimFree(store, two.id))];
    started.push(...(await claimFree(store, one.id)));
    assert.deepEqual(taken(started), gang);
  });

  test('gangs: what a worker holds for members is given to no other job, however many slots are free', async ({
    store,
  }) => {
    const [one, two] = [await aSite(store, { slots: 9 }), await aSite(store, { slots: 9 })];
    const members = ids(await submit(store, aGang(4, gpu(1))));
    await store.placeGangs(forever);
    assert.deepEqual(await claimFree(store, one.id), []);
    const [needy, modest] = ids(await submit(store, [aJob(gpu(1)), aJob()]));
    assert.deepEqual(taken(await claimFree(store, one.id)), [modest]);
    const started = [...(await claimFree(store, two.id)), ...(await claimFree(store, one.id))];
    assert.deepEqual(taken(started), members);
    for (const lease of started) await succeed(store, lease);
    assert.deepEqual(taken(await claimFree(store, one.id)), [needy]);
  });

  test('gangs: a more urgent job that could run keeps a gang from holding what is not free', async ({ store }) => {
    const { id } = await aSite(store, { slots: 1 });
    await submit(store, [aJob()]);
    const [busy] = await claimFree(store, id);
    const urgent = await submitOne(store, aJob({ priority: 9 }));
    const gang = ids(await submit(store, aGang(1)));
    assert.equal(await store.placeGangs(forever), 0);
    await succeed(store, busy as Lease);
    const [next] = await claimFree(store, id);
    assert.equal(next?.job.id, urgent.id);
    assert.equal(await store.placeGangs(forever), 1);
    await succeed(store, next);
    assert.deepEqual(taken(await claimFree(store, id)), gang);
  });

  test('gangs: are packed, spread, or on one worker', async ({ store }) => {
    const sites = [
      await aSite(store, { slots: 4 }),
      await aSite(store, { slots: 4 }),
      await aSite(store, { slots: 4 }),
    ];
    for (const [spread, used] of [
      ['pack', 1],
      ['spread', 3],
      ['same-worker', 1],
    ] as const) {
      const members = await submit(store, aGang(3, {}, { spread }));
      await store.placeGangs(forever);
      const places = await store.places(forever);
      assert.equal(new Set(places.map(({ workerId }) => workerId)).size, used, spread);
      assert.ok(places.every(({ workerId }) => sites.some(({ id }) => id === workerId)));
      for (const { id } of members) await decide(store, id, { type: 'cancel' });
      await drop(store, places[0]?.gangId ?? '');
    }
    await submit(store, aGang(5, {}, { spread: 'same-worker' }));
    assert.equal(await store.placeGangs(forever), 0);
  });

  test('gangs: do not start if a member was cancelled, in a paused queue, or over max_running', async ({ store }) => {
    const { id } = await aSite(store);
    const [first, second] = await submit(store, aGang(2));
    await store.placeGangs(forever);
    await decide(store, first?.id ?? 0, { type: 'cancel' });
    assert.deepEqual(await claimFree(store, id), []);
    await decide(store, second?.id ?? 0, { type: 'cancel' });
    const [place] = await store.places(forever);
    await drop(store, place?.gangId ?? '');
    await store.setQueue('few', { maxRunning: 1 }, forever);
    await store.setQueue('none', { paused: true }, forever);
    await submit(store, [...aGang(2, { queue: 'few' }), ...aGang(2, { queue: 'none' })]);
    assert.equal(await store.placeGangs(forever), 0);
  });

  test('gangs: members with places wait while their queue is paused', async ({ store }) => {
    const { id } = await aSite(store);
    const members = ids(await submit(store, aGang(2)));
    assert.equal(await store.placeGangs(forever), 2);
    await store.setQueue('default', { paused: true }, forever);
    const [outlook] = await store.outlook(members[0] ?? 0, forever);
    assert.equal(outlook?.obstacle, 'slots');
    assert.deepEqual(await claimFree(store, id), []);
    await store.setQueue('default', { paused: false }, forever);
    assert.deepEqual(taken(await claimFree(store, id)), members);
  });

  test('gangs: members are answered among other jobs in the order of claims', async ({ store }) => {
    const { id } = await aSite(store, { slots: 4 });
    const members = ids(await submit(store, aGang(2)));
    await store.placeGangs(forever);
    const [urgent, later] = ids(await submit(store, [aJob({ priority: 1 }), aJob()]));
    const leases = await claimFree(store, id);
    assert.deepEqual(
      leases.map(({ job }) => job.id),
      [urgent, ...members, later],
    );
  });

  test('gangs: incomplete are those without places whose other members do not wait', async ({ store }) => {
    const { id } = await aSite(store);
    const [first = 0, second = 0] = ids(await submit(store, aGang(2)));
    await submit(store, aGang(9));
    assert.deepEqual(await store.incompleteGangs(forever), []);
    await decide(store, first, { type: 'cancel' });
    const [incomplete, ...others] = await store.incompleteGangs(forever);
    assert.deepEqual([incomplete?.jobIds, others], [[second], []]);
    await store.setQueue('default', { paused: true }, forever);
    assert.deepEqual(await store.incompleteGangs(forever), [incomplete], 'also in a paused queue');
    await store.setQueue('default', { paused: false }, forever);
    await decide(store, second, { type: 'cancel' });
    assert.deepEqual(await store.incompleteGangs(forever), []);

    const begun = ids(await submit(store, aGang(2)));
    await store.placeGangs(forever);
    const [lease] = await claimFree(store, id);
    assert.deepEqual([lease?.job.id, await store.incompleteGangs(forever)], [begun[0], []]);
  });

  test('gangs: those of a queue with max_running start one after the other', async ({ store }) => {
    const { id } = await aSite(store, { slots: 9 });
    await store.setQueue('few', { maxRunning: 3 }, forever);
    const [one, two] = [aGang(2, { queue: 'few' }), aGang(2, { queue: 'few' })];
    const [first, second] = [ids(await submit(store, one)), ids(await submit(store, two))];
    assert.equal(await store.placeGangs(forever), 2, 'the second would have no place in the queue');
    const leases = await claimFree(store, id);
    assert.deepEqual(taken(leases), first);
    assert.equal(await store.placeGangs(forever), 2, 'the queue is large enough when it is idle');
    assert.deepEqual(await claimFree(store, id), []);
    for (const lease of leases) await succeed(store, lease);
    assert.deepEqual(taken(await claimFree(store, id)), second);
  });

  test('gangs: single jobs leave what max_running allows to members with places', async ({ store }) => {
    const [one, two] = [await aSite(store, { slots: 4 }), await aSite(store, { slots: 4 })];
    await store.setQueue('few', { maxRunning: 3 }, forever);
    const members = ids(await submit(store, aGang(2, { queue: 'few' }, { spread: 'spread' })));
    assert.equal(await store.placeGangs(forever), 2);
    const singles = ids(await submit(store, [aJob({ queue: 'few' }), aJob({ queue: 'few' }), aJob({ queue: 'few' })]));
    assert.deepEqual(taken(await claimFree(store, one.id)), singles.slice(0, 1));
    assert.deepEqual(taken(await claimFree(store, two.id)), members.slice(1), 'the first has not started yet');
    assert.deepEqual(taken(await claimFree(store, one.id)), members.slice(0, 1));
    assert.deepEqual(await claimFree(store, two.id), []);
  });

  test('gangs: a gang waits with its places for the rate of its queue, which single jobs leave to it', async ({
    store,
    advance,
  }) => {
    const { id } = await aSite(store, { slots: 9 });
    await store.setQueue('slow', { rate: { limit: 2, perMs: 60_000, burst: 0 } }, forever);
    await submitOne(store, aJob({ queue: 'slow' }));
    assert.equal((await claimFree(store, id)).length, 1);
    const members = ids(await submit(store, aGang(2, { queue: 'slow' })));
    await submitOne(store, aJob({ queue: 'slow' }));
    assert.equal(await store.placeGangs(forever), 2);
    assert.deepEqual(await claimFree(store, id), [], 'one may start, and is kept for the gang');
    await advance(60_000);
    assert.deepEqual(taken(await claimFree(store, id)), members);
  });

  test('gangs: none waits for its queue while a more urgent job of the queue waits', async ({ store }) => {
    const { id } = await aSite(store, { slots: 9 });
    await store.setQueue('few', { maxRunning: 2 }, forever);
    await submit(store, [aJob({ queue: 'few' }), aJob({ queue: 'few' })]);
    const [first] = await claimFree(store, id);
    const urgent = await submitOne(store, aJob({ queue: 'few', priority: 1 }));
    await submit(store, aGang(2, { queue: 'few' }));
    assert.equal(await store.placeGangs(forever), 0);
    await succeed(store, first as Lease);
    assert.deepEqual(taken(await claimFree(store, id)), [urgent.id]);
    assert.equal(await store.placeGangs(forever), 2);
  });

  test('gangs: do not start together if max_running was lowered since they were given places', async ({ store }) => {
    const { id } = await aSite(store, { slots: 9 });
    const [one, two] = [aGang(2), aGang(2)];
    const [first, second] = [ids(await submit(store, one)), ids(await submit(store, two))];
    assert.equal(await store.placeGangs(forever), 4);
    await store.setQueue('default', { maxRunning: 3 }, forever);
    const obstacles = async () =>
      (await Promise.all([...first, ...second].map((member) => store.outlook(member, forever)))).map(
        ([outlook]) => outlook?.obstacle,
      );
    assert.deepEqual(await obstacles(), [null, null, 'slots', 'slots']);
    const leases = await claimFree(store, id);
    assert.deepEqual(taken(leases), first);
    for (const lease of leases) await succeed(store, lease);
    assert.deepEqual((await obstacles()).slice(2), [null, null]);
    assert.deepEqual(taken(await claimFree(store, id)), second);
  });

  test('gangs: offline and silent workers get no places', async ({ store, advance }) => {
    const gone = await aSite(store);
    await aSite(store, { leaseMs: LEASE_MS });
    await store.leaveWorker(gone.id, forever);
    await advance(2 * LEASE_MS);
    await submit(store, aGang(1));
    assert.equal(await store.placeGangs(forever), 0);
  });

  test('gangs: a worker that is silent or drains accepts no place', async ({ store, advance }) => {
    const [silent, draining] = [await aSite(store, { leaseMs: LEASE_MS }), await aSite(store)];
    await submit(store, aGang(4, gpu(1)));
    assert.equal(await store.placeGangs(forever), 4);
    await advance(2 * LEASE_MS);
    await store.drainWorker(draining.id, forever);
    for (const worker of [silent, draining]) {
      assert.deepEqual(await claim(store, worker.id, { offer: offerOf(worker), limit: 2 }), []);
    }
    assert.deepEqual(statesOf(await store.places(forever)), Array(4).fill('given'));
  });

  test('gangs: random gangs and workers that vanish never leave two gangs with half of their places', async ({
    store,
  }) => {
    let state = 7;
    const random = (below: number) => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      return (state >>> 16) % below;
    };
    const sites = [await aSite(store), await aSite(store), await aSite(store)];
    const total = 12;
    let held: Lease[] = [];
    for (let made = 0, round = 0; round < 400; round += 1) {
      if (made < total && random(2) === 0) {
        await submit(store, aGang(1 + random(4), gpu(1)));
        made += 1;
      }
      await store.placeGangs(forever);
      const places = await store.places(forever);
      const open = new Set(places.filter(({ accepted }) => !accepted).map(({ gangId }) => gangId));
      for (const { id } of sites.toSorted(() => random(3) - 1)) held.push(...(await claimFree(store, id)));
      // A worker goes silent and another registers: the gang gets its places again.
      if (random(10) === 0 && open.size > 0) await drop(store, ...open);
      const done = held.filter(() => random(2) === 0);
      for (const lease of done) await succeed(store, lease);
      held = held.filter((lease) => !done.includes(lease));
      const left = await store.places(forever);
      const unfinished = new Set(
        (await store.list({ statuses: ['pending', 'running'] }, { before: null, limit: 1_000 }, forever)).map(
          ({ id }) => id,
        ),
      );
      const over = [...Map.groupBy(left, ({ gangId }) => gangId)].filter(([, all]) =>
        all.every(({ jobId }) => !unfinished.has(jobId)),
      );
      await drop(store, ...over.map(([gangId]) => gangId));
      if (made === total && unfinished.size === 0) return;
    }
    assert.fail('some gangs have not ended');
  });
}

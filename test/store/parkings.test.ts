/** Jobs that wait for a full key are woken, whatever gets lost between the end of one job and the start of the next. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aJob } from '../../contract/kit/builders.ts';
import {
  claim,
  claimOne,
  forever,
  ids,
  type Lease,
  register,
  submit,
  submitOne,
  succeed,
  success,
} from '../../contract/kit/steps.ts';
import type { Job } from '../../src/core/job.ts';
import type { Store } from '../../src/store/store.ts';
import type { Transactional } from '../../src/store/transactional.ts';
import { STORES_WITH_TABLES } from '../kit/with-tables.ts';

const KEEP = { doneMs: 3_600_000, otherMs: 3_600_000, statsMs: 3_600_000 };
const LIMITS = [{ key: 'k', max: 1 }];
const ALL = { after: 0, limit: 100 };

/** A job that holds the key, and one that waits for it. */
async function holderAndWaiting(store: Store): Promise<{ lease: Lease; waiting: Job }> {
  const lease = await claimOne(store, aJob({ limits: LIMITS }), (await register(store)).id);
  const waiting = await submitOne(store, aJob({ limits: LIMITS }));
  assert.deepEqual(await claim(store, lease.workerId), []);
  return { lease, waiting };
}

for (const [driver, open] of Object.entries(STORES_WITH_TABLES)) {
  test(`${driver}: jobs wait for no key whose last start was pruned before its end was adopted`, async () => {
    await using given = await open();
    const { store, run } = given;
    const { lease, waiting } = await holderAndWaiting(store);
    await (store.transactional as Transactional).complete(run, success(lease));
    await store.sweep('metered_start', KEEP, 100, forever);
    assert.equal(await store.adopt(10, forever), 1);
    assert.deepEqual(ids(await claim(store, lease.workerId)), [waiting.id]);
  });

  test(`${driver}: a closed key that nobody holds is opened, and counted once`, async () => {
    await using given = await open();
    const { store, ask } = given;
    const { lease, waiting } = await holderAndWaiting(store);
    assert.deepEqual(await store.healParkings(ALL, forever), { meters: [], next: null });
    // As a lost event left it: the job has ended, and neither its start nor its meter is there.
    await ask('delete from @metered_start');
    await ask('delete from @meter');
    await succeed(store, lease);
    assert.deepEqual(await claim(store, lease.workerId), []);
    assert.deepEqual(await store.healParkings(ALL, forever), { meters: ['limit:k'], next: null });
    assert.deepEqual(await store.healParkings(ALL, forever), { meters: [], next: null });
    const [again] = await claim(store, lease.workerId);
    assert.equal(again?.id, waiting.id);
    await submitOne(store, aJob({ limits: LIMITS }));
    assert.deepEqual(await claim(store, lease.workerId), [], 'the key counts as before');
  });

  test(`${driver}: of a key with several jobs, as many as may run start after it was opened`, async () => {
    await using given = await open();
    const { store, ask } = given;
    const { id } = await register(store);
    const limits = [{ key: 'k', max: 2 }];
    await submit(store, [aJob({ limits }), aJob({ limits }), aJob({ limits }), aJob({ limits })]);
    const [first] = await claim(store, id);
    assert.deepEqual(await store.healParkings(ALL, forever), { meters: [], next: null });
    await ask(`delete from @metered_start where job_id = ${first?.id}`);
    await succeed(store, { job: first as Lease['job'], workerId: id });
    assert.deepEqual(await store.healParkings(ALL, forever), { meters: ['limit:k'], next: null });
    assert.equal((await claim(store, id)).length, 1);
    assert.deepEqual(await store.healParkings(ALL, forever), { meters: [], next: null });
  });

  test(`${driver}: a key whose holder was completed and not adopted yet is opened, but nothing was lost`, async () => {
    await using given = await open();
    const { store, run } = given;
    const { lease, waiting } = await holderAndWaiting(store);
    await (store.transactional as Transactional).complete(run, success(lease));
    assert.deepEqual(await store.healParkings(ALL, forever), { meters: [], next: null });
    assert.deepEqual(ids(await claim(store, lease.workerId)), [waiting.id]);
  });

  test(`${driver}: a round looks at so many parkings, and the next one goes on`, async () => {
    await using given = await open();
    const { store, ask } = given;
    const { id } = await register(store);
    const keys = ['a', 'b', 'c', 'd', 'e'];
    const pair = (key: string) => [aJob({ limits: [{ key, max: 1 }] }), aJob({ limits: [{ key, max: 1 }] })];
    await submit(store, keys.flatMap(pair));
    const running = await claim(store, id);
    assert.equal(running.length, keys.length);
    await ask('delete from @metered_start');
    for (const job of running) await succeed(store, { job, workerId: id });
    const healed: string[] = [];
    let after: number | null = 0;
    for (let rounds = 0; after !== null; rounds += 1) {
      assert.ok(rounds < 4, 'two at a time');
      const { meters, next } = await store.healParkings({ after, limit: 2 }, forever);
      healed.push(...meters);
      after = next;
    }
    assert.deepEqual(
      healed.toSorted(),
      keys.map((key) => `limit:${key}`),
    );
    assert.equal((await claim(store, id)).length, keys.length);
  });
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { aJob, anOffer } from '../../contract/kit/builders.ts';
import { claim, forever, register, submit, success } from '../../contract/kit/steps.ts';
import { pruner } from '../../src/scheduler/duties/pruner.ts';
import { openTestPostgres } from '../kit/postgres.ts';

const OLD = 5_000;

test('pruner: on a shared store one round deletes thousands of jobs, as many as end meanwhile', async () => {
  await using given = await openTestPostgres();
  const { store } = given;
  const { id: workerId } = await register(store);
  await submit(
    store,
    Array.from({ length: OLD }, () => aJob()),
  );
  const jobs = await claim(store, workerId, { limit: OLD, offer: anOffer() });
  await store.settle(
    jobs.map((job) => success({ job, workerId })),
    forever,
  );
  await sleep(2);
  const duty = pruner({ store }, { retention: { doneMs: 1, otherMs: 1, statsMs: 1 }, ledgerMs: 1, auditMs: 1 });
  assert.notEqual(await duty.tick(forever), undefined);
  assert.equal(await duty.tick(forever), undefined);
  assert.deepEqual(await store.list({}, { limit: 10, before: null }, forever), []);
});

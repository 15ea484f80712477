import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { aJob, anOffer } from '../../contract/kit/builders.ts';
import { claim, forever, register, submit, success } from '../../contract/kit/steps.ts';
import { pruner } from '../../src/scheduler/duties/pruner.ts';
import { openTestPostgres } from '../kit/postgres.ts';

const OLD = 5_000;

/** A store with ended jobs that are old at once, and the duty that deletes them. */
async function scene() {
  const given = await openTestPostgres();
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
  return { ...given, duty, left: () => store.count({}, OLD, forever) };
}

test('pruner: on a shared store one round deletes thousands of jobs, as many as end meanwhile', async () => {
  await using given = await scene();
  const { duty, left } = given;
  assert.notEqual(await duty.tick(forever), undefined);
  assert.equal(await duty.tick(forever), undefined);
  assert.equal(await left(), 0);
});

test('pruner: a batch that fails is halved until it can be deleted', async () => {
  await using given = await scene();
  const { duty, left, query, schema } = given;
  await query(`create function "${schema}".refuse() returns trigger language plpgsql as $$
    begin if (select count(*) from gone) > 2000 then raise exception 'too many'; end if; return null; end $$`);
  await query(`create trigger refuse after delete on "${schema}".job referencing old table as gone
    for each statement execute function "${schema}".refuse()`);
  await assert.rejects(Promise.resolve(duty.tick(forever)));
  assert.equal(await left(), OLD);
  await assert.rejects(Promise.resolve(duty.tick(forever)));
  assert.notEqual(await duty.tick(forever), undefined);
  assert.equal(await left(), OLD - OLD / 4);
});

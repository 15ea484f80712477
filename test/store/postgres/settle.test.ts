import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aJob } from '../../../contract/kit/builders.ts';
import { claim, decide, FAILED, forever, readOne, register, submit, success } from '../../../contract/kit/steps.ts';
import { openTestPostgres } from '../../kit/postgres.ts';

/** Another process cannot tell this one that an attempt has ended: what this one remembers of it is out of date. */
async function openTwo() {
  await using stack = new AsyncDisposableStack();
  const given = stack.use(await openTestPostgres());
  const other = stack.use(await openTestPostgres({ url: given.url, schema: given.schema }));
  const kept = stack.move();
  return { ...given, other: other.store, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

test('postgres: a batch of ends leaves out the job whose attempt another process has ended, and ends the others', async () => {
  await using given = await openTwo();
  const { store, other } = given;
  const { id: workerId } = await register(store);
  await submit(store, [aJob(), aJob({ backoff: { ...aJob().backoff, type: 'none' } }), aJob()]);
  const jobs = await claim(store, workerId);
  const [first, second, third] = jobs;
  assert.ok(first && second && third);
  await decide(other, second.id, { type: 'settle', outcome: FAILED });
  const [again] = await claim(other, workerId, { claimSeq: 2 });
  assert.equal(again?.id, second.id);
  assert.equal(again?.attempt, 2);

  const answers = await store.settle(
    jobs.map((job) => success({ job, workerId })),
    forever,
  );
  assert.deepEqual(
    answers.map(({ result }) => result),
    ['ok', 'lease_lost', 'ok'],
  );
  assert.equal((await readOne(store, second.id)).status, 'running');
  for (const { id } of [first, third]) assert.equal((await readOne(store, id)).status, 'done');
});

test('postgres: a batch of ends leaves out the job that another process has given to another worker', async () => {
  await using given = await openTwo();
  const { store, other, query, schema } = given;
  const { id: workerId } = await register(store);
  await submit(store, [aJob(), aJob()]);
  const jobs = await claim(store, workerId);
  const [first, second] = jobs;
  assert.ok(first && second);
  const { id: successor } = await register(other);
  await query(`update "${schema}".live set worker_id = $1 where job_id = $2`, [successor, second.id]);

  const answers = await store.settle(
    jobs.map((job) => success({ job, workerId })),
    forever,
  );
  assert.deepEqual(
    answers.map(({ result }) => result),
    ['ok', 'lease_lost'],
  );
  assert.equal((await readOne(store, second.id)).status, 'running');
});

test('postgres: each job of a batch of ends keeps its own start, also beside one that is left out', async () => {
  await using given = await openTwo();
  const { store, other } = given;
  const { id: workerId } = await register(store);
  await submit(
    store,
    Array.from({ length: 5 }, () => aJob({ handler: 'noop' })),
  );
  const offer = { queues: null, commands: false, handlers: ['noop'], tags: [], free: {} };
  const jobs = await claim(store, workerId, { prefetch: true, offer });
  assert.equal(jobs.length, 5);
  const now = await store.now(forever);
  const startOf = (place: number) => now - 1_000 + place * 100;
  const gone = jobs[2];
  assert.ok(gone);
  await decide(other, gone.id, { type: 'settle', outcome: { type: 'returned' } });

  const successes = jobs.map((job, place) => ({ ...success({ job, workerId }), startedAt: startOf(place) }));
  const answers = await store.settle(successes, forever);
  for (const [place, job] of jobs.entries()) {
    assert.equal(answers[place]?.result, place === 2 ? 'lease_lost' : 'ok');
    if (place === 2) continue;
    const [attempt] = await store.attempts(job.id, forever);
    assert.equal(attempt?.startedAt, startOf(place));
  }
});

/** Transactions that need the same two rows take them in the order of docs/architecture.md, so that none waits for the other in a ring. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { aJob } from '../../../contract/kit/builders.ts';
import { claim, forever, ids, readOne, register, submit } from '../../../contract/kit/steps.ts';
import type { NewJob } from '../../../src/core/job.ts';
import { type JobEvent, transition } from '../../../src/core/transition.ts';
import { eventually } from '../../kit/eventually.ts';
import { openTestPostgres, type PostgresTestStore } from '../../kit/postgres.ts';

function members(id: string, size: number, queue = 'default'): NewJob[] {
  const gang = { id, size, min: size, spread: 'pack', onMemberFailure: 'restart', timeoutMs: 600_000 } as const;
  return Array.from({ length: size }, (_, rank) => aJob({ queue, maxAttempts: 3, gang: { ...gang, rank } }));
}

/** A transaction of another process. */
async function begin({ url }: PostgresTestStore) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`set lock_timeout = '10s'; begin`);
  return {
    query: (text: string, values: unknown[] = []) => client.query(text, values),
    [Symbol.asyncDispose]: () => client.end(),
  };
}

/** Waits until a statement of the store waits for a lock. */
function waitsFor({ query, schema }: PostgresTestStore, part: string): Promise<unknown> {
  const text = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and application_name = 'workron'
    and position('"${schema}"' in query) > 0 and position($1 in query) > 0`;
  return eventually(async () => (await query(text, [part])).length > 0);
}

async function changeOf({ store }: PostgresTestStore, jobId: number, event: JobEvent) {
  const job = await readOne(store, jobId);
  const [gang] = await store.gangs([job.gang?.id ?? ''], forever);
  return transition(job, event, 0.5, gang) ?? assert.fail();
}

test('postgres: the success of a member waits for the key of a limit before it takes the places', async () => {
  await using given = await openTestPostgres();
  const { store, schema } = given;
  const { id } = await register(store, { slots: 9, leaseMs: 3_600_000 });
  await submit(store, [...members('g', 2), aJob({ limits: [{ key: 'k', max: 1 }] })]);
  assert.equal(await store.placeGangs(forever), 2);
  const running = [...(await claim(store, id)), ...(await claim(store, id))];
  assert.equal(running.length, 3);
  const [member] = running.filter(({ gang }) => gang !== null);
  const [limited] = running.filter(({ limits }) => limits.length > 0);
  const success = { exitCode: 0, result: null };
  const changes = [
    await changeOf(given, member?.id ?? 0, { type: 'succeed', success }),
    await changeOf(given, limited?.id ?? 0, { type: 'settle', outcome: { type: 'interrupted', error: 'stopped' } }),
  ];

  // A claim has the key, and then needs the places.
  await using other = await begin(given);
  await other.query(`select * from "${schema}".meter where name = 'limit:k' for update`);
  const changing = store.applyChanges(changes, forever);
  await waitsFor(given, 'meter');
  await other.query(`lock table "${schema}".place in share row exclusive mode`);
  await other.query('commit');
  assert.deepEqual(
    (await changing).map((job) => job?.status),
    ['blocked', 'pending'],
  );
  assert.equal(store.deadlocks(), 0);
});

test('postgres: a claim locks all queues before the places', async () => {
  await using given = await openTestPostgres();
  const { store, schema } = given;
  const { id } = await register(store, { slots: 9, leaseMs: 3_600_000 });
  for (const queue of ['one', 'two']) await store.setQueue(queue, { maxRunning: 5 }, forever);
  const first = await submit(store, members('g1', 1, 'one'));
  assert.equal(await store.placeGangs(forever), 1);

  await using placer = await begin(given);
  await placer.query(`lock table "${schema}".place in share row exclusive mode`);
  const claiming = claim(store, id, {
    offer: { queues: ['one'], commands: true, handlers: [], tags: [], free: {} },
  });
  await waitsFor(given, 'lock table');
  // Meanwhile the worker gets a place in a queue that the claim has not locked, and another claim locks that queue.
  const [second] = await submit(store, members('g2', 1, 'two'));
  await placer.query(
    `insert into "${schema}".place (job_id, gang_id, rank, size, worker_id, accepted, started, until)
      values ($1, 'g2', 0, 1, $2, false, false, now() + interval '1 hour')`,
    [second?.id, id],
  );
  await using other = await begin(given);
  await other.query(`select * from "${schema}".queue where name = 'two' for update`);
  await placer.query('commit');
  const waiting = other.query(`lock table "${schema}".place in share row exclusive mode`);
  const claimed = await claiming;
  await waiting;
  await other.query('commit');
  const later = claimed.length > 0 ? claimed : await claim(store, id, { limit: 9 });
  assert.ok(ids(later).includes(first[0]?.id ?? 0));
  assert.equal(store.deadlocks(), 0);
});

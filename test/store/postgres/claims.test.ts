import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aJob, jobs } from '../../../contract/kit/builders.ts';
import {
  beat,
  cancel,
  claim,
  claimOne,
  fail,
  findLost,
  forever,
  ids,
  readOne,
  register,
  retireWorkers,
  submit,
  submitOne,
  succeed,
  success,
} from '../../../contract/kit/steps.ts';
import { OpenClaims } from '../../../src/store/postgres/jobs/open-claims.ts';
import { eventually } from '../../kit/eventually.ts';
import { openTestPostgres, type PostgresTestStore } from '../../kit/postgres.ts';

const LATER_MS = 10_000;

interface ClaimRow {
  worker_id: number;
  job_ids: number[];
}

async function claimRows({ query, schema }: PostgresTestStore): Promise<ClaimRow[]> {
  const rows = await query<{ worker_id: number; job_ids: string[] }>(
    `select worker_id, job_ids from "${schema}".claim order by id`,
  );
  return rows.map(({ worker_id, job_ids }) => ({ worker_id, job_ids: job_ids.map(Number) }));
}

async function advance({ query, schema }: PostgresTestStore, ms: number): Promise<void> {
  await query(`update "${schema}".meta set clock_offset_ms = clock_offset_ms + ${ms}`);
}

test('postgres: claims write to no index', async () => {
  await using given = await openTestPostgres();
  const { store, query, schema } = given;
  await submit(store, jobs(2_000));
  const { id } = await register(store);
  for (let taken = 0; taken < 2_000; taken += 500) {
    const claimed = await claim(store, id, { limit: 500 });
    await store.settle(
      claimed.map((job) => success({ job, workerId: id })),
      forever,
    );
  }
  const hot = async () => {
    const [row] = await query<{ updates: string; hot: string }>(
      `select n_tup_upd as updates, n_tup_hot_upd as hot from pg_stat_all_tables
       where schemaname = '${schema}' and relname = 'live'`,
    );
    return { updates: Number(row?.updates), hot: Number(row?.hot) };
  };
  // A session reports its statistics a second later.
  await eventually(async () => (await hot()).updates === 2_000);
  const seen = await hot();
  assert.ok(seen.hot >= 0.9 * seen.updates, `${seen.hot} of ${seen.updates} updates wrote to no index`);
});

test('postgres: the row of a claim is deleted with the next claim after its jobs have ended', async () => {
  await using given = await openTestPostgres();
  const { store } = given;
  const { id } = await register(store);
  const [first, second, third] = await submit(store, jobs(3));
  const taken = await claim(store, id, { limit: 2 });
  assert.deepEqual(await claimRows(given), [{ worker_id: id, job_ids: [first?.id, second?.id] }]);
  const [one, two] = taken.map((job) => ({ job, workerId: id }));
  assert.ok(one && two);
  await succeed(store, one);
  await fail(store, two);
  await claim(store, id);
  assert.deepEqual(await claimRows(given), [{ worker_id: id, job_ids: [third?.id] }]);
});

test('postgres: a job that was asked to stop is still found when its worker is lost', async () => {
  await using given = await openTestPostgres();
  const { store } = given;
  const lease = await claimOne(store, aJob());
  await cancel(store, lease.job.id);
  await submitOne(store, aJob());
  await claim(store, lease.workerId);
  assert.deepEqual(
    (await claimRows(given)).map(({ job_ids }) => job_ids.length),
    [1, 1],
  );
  await advance(given, 3_600_000);
  const lost = await findLost(store);
  assert.equal(lost.length, 2);
});

test('postgres: the end of an attempt does not close the claim of the next one', () => {
  const claims = new OpenClaims();
  const job = { id: 5, queue: 'default', dueAt: 0, startedAt: 0 };
  claims.open({ workerId: 1, id: 10 }, [{ ...job, attempt: 1 }]);
  // The job was requeued and claimed again before the end of its first attempt was noted.
  claims.open({ workerId: 1, id: 11 }, [{ ...job, attempt: 2 }]);
  claims.release(5, 1);
  assert.deepEqual(claims.takeEnded(1), []);
  claims.release(5, 2);
  assert.deepEqual(claims.takeEnded(1), [11]);
  assert.deepEqual(claims.takeEnded(1), []);
});

test('postgres: a heartbeat cuts claims to the jobs that are left and lists those as running', async () => {
  await using given = await openTestPostgres();
  const { store, query, schema } = given;
  const { id } = await register(store);
  await submit(store, jobs(3));
  const [slow, quick, other] = (await claim(store, id, { limit: 3 })).map((job) => ({ job, workerId: id }));
  assert.ok(slow && quick && other);
  await succeed(store, quick);
  const listed = () => query<{ listed_as: string }>(`select listed_as from "${schema}".live order by job_id`);
  await beat(store, id, [slow, other]);
  assert.equal((await claimRows(given))[0]?.job_ids.length, 3, 'a young claim is left alone');

  await advance(given, LATER_MS);
  await beat(store, id, [slow, other]);
  const cut = [{ worker_id: id, job_ids: ids([slow.job, other.job]) }];
  assert.deepEqual(await claimRows(given), cut);
  await beat(store, id, [slow, other]);
  assert.deepEqual(await claimRows(given), cut, 'a claim whose jobs all run stays');
  assert.deepEqual(await listed(), [{ listed_as: 'running' }, { listed_as: 'running' }]);
  const found = await store.list({ statuses: ['running'] }, { before: null, limit: 10 }, forever);
  assert.deepEqual(ids(found), ids([other.job, slow.job]));

  await store.settle([success(slow), success(other)], forever);
  await advance(given, LATER_MS);
  await beat(store, id, []);
  assert.deepEqual(await claimRows(given), []);
});

test('postgres: a long-running job that fails can be claimed again', async () => {
  await using given = await openTestPostgres();
  const { store } = given;
  const lease = await claimOne(store, aJob({ backoff: { type: 'fixed', baseMs: 0, factor: 1, capMs: 0, jitter: 0 } }));
  await advance(given, LATER_MS);
  await beat(store, lease.workerId, [lease]);
  await fail(store, lease);
  assert.equal((await readOne(store, lease.job.id)).status, 'pending');
  const [again] = await claim(store, lease.workerId);
  assert.equal(again?.attempt, 2);
});

test('postgres: the claims of a worker that is gone are deleted once its jobs were given to others', async () => {
  await using given = await openTestPostgres();
  const { store } = given;
  const lease = await claimOne(store, aJob());
  await advance(given, 3_600_000);
  await retireWorkers(store, 0);
  assert.equal((await claimRows(given)).length, 1, 'it still holds its job');
  await fail(store, lease);
  await retireWorkers(store, 0);
  assert.deepEqual(await claimRows(given), []);
});

test('postgres: jobs that have ended are announced even if linked jobs of the same call cannot be ended', async () => {
  await using opened = await openTestPostgres();
  const { store, query, schema } = opened;
  const parent = await submitOne(store, aJob());
  await submitOne(store, aJob({ dependsOn: [{ jobId: parent.id, condition: 'success' }] }));
  const simple = await submitOne(store, aJob());
  const { id } = await register(store);
  const claimed = await claim(store, id, { limit: 2 });
  const changed = new Set<number>();
  using _ = {
    [Symbol.dispose]: store.subscribe((hint) => hint.topic === 'jobs' && hint.ids.forEach((one) => changed.add(one))),
  };
  await query(`alter table "${schema}".edge rename to edge_away`);
  await assert.rejects(
    store.settle(
      claimed.map((job) => success({ job, workerId: id })),
      forever,
    ),
  );
  await query(`alter table "${schema}".edge_away rename to edge`);
  await eventually(() => changed.has(simple.id));
});

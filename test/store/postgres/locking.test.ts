import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { aJob, anOffer, jobs } from '../../../contract/kit/builders.ts';
import {
  cancel,
  claim,
  fail,
  forever,
  ids,
  register,
  submit,
  submitOne,
  success,
} from '../../../contract/kit/steps.ts';
import { type Log, silentLog } from '../../../src/ops/log.ts';
import { Metrics } from '../../../src/ops/metrics.ts';
import { eventually } from '../../kit/eventually.ts';
import { openTestPostgres, type PostgresTestStore } from '../../kit/postgres.ts';

async function connect({ url }: PostgresTestStore): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return client;
}

test('postgres: a claim goes past jobs that somebody else has locked', async () => {
  await using given = await openTestPostgres();
  const { store, schema } = given;
  const [first, second] = await submit(store, [aJob({ priority: 5 }), aJob()]);
  const { id } = await register(store);
  const holder = await connect(given);
  await holder.query(`begin; select * from "${schema}".live where job_id = ${first?.id} for update`);

  assert.deepEqual(ids(await claim(store, id)), [second?.id]);
  await holder.query('rollback');
  await holder.end();
  assert.deepEqual(ids(await claim(store, id)), [first?.id]);
});

test('postgres: of several lanes, a claim goes past those whose jobs are all locked', async () => {
  await using given = await openTestPostgres();
  const { store, schema } = given;
  const [urgent, other] = await submit(store, [aJob({ priority: 5, queue: 'a' }), aJob({ queue: 'b' })]);
  const { id } = await register(store);
  const holder = await connect(given);
  await holder.query(`begin; select * from "${schema}".live where job_id = ${urgent?.id} for update`);

  assert.deepEqual(ids(await claim(store, id, { limit: 2 })), [other?.id]);
  await holder.query('rollback');
  await holder.end();
});

test('postgres: a job that may pass a reservation is not replaced by one behind it that may not', async () => {
  await using given = await openTestPostgres();
  const { store, schema } = given;
  const { id } = await register(store, { resources: { gpu: 2 } });
  const gpu = (amount: number, timeoutMs: number) => aJob({ resources: { gpu: amount }, timeoutMs });
  await submit(store, [gpu(1, 600_000)]);
  assert.equal((await claim(store, id, { offer: anOffer({ free: { gpu: 2 } }) })).length, 1);
  const [, short] = await submit(store, [gpu(2, 1_000), gpu(1, 1_000), gpu(1, 6_000_000)]);
  const holder = await connect(given);
  await holder.query(`begin; select * from "${schema}".live where job_id = ${short?.id} for update`);

  const offer = anOffer({ free: { gpu: 1 } });
  assert.deepEqual(await claim(store, id, { offer }), []);
  await holder.query('rollback');
  await holder.end();
  assert.deepEqual(ids(await claim(store, id, { offer })), [short?.id]);
});

test('postgres: submits at the same time give no turn of a key twice, and do not wait for each other in a ring', async () => {
  const warnings: unknown[] = [];
  const log: Log = { ...silentLog, warn: (details) => warnings.push(details) };
  await using given = await openTestPostgres({ log });
  const { store, schema } = given;
  const keys = ['a', 'b', 'c'];
  const queues = ['q1', 'q2'];
  await Promise.all(
    Array.from({ length: 24 }, (_, round) => {
      const batch = queues.flatMap((queue) => keys.map((fairKey) => aJob({ queue, fairKey })));
      return submit(store, round % 2 === 0 ? batch : batch.reverse());
    }),
  );
  const rows = await given.query<{ jobs: number; turns: number }>(
    `select count(*)::integer as jobs, count(distinct turn)::integer as turns from "${schema}".live group by lane, fair_key`,
  );
  assert.deepEqual(
    rows,
    Array.from({ length: 6 }, () => ({ jobs: 24, turns: 24 })),
  );
  assert.deepEqual(warnings, []);
});

test('postgres: a claim that began before an edit runs the edited job, never the old one', async () => {
  await using given = await openTestPostgres({ poolSize: 1 });
  const { store, schema } = given;
  const job = await submitOne(store, aJob({ command: 'old' }));
  const { id } = await register(store);
  await claim(store, id, { offer: { queues: ['none'], commands: true, handlers: [], tags: [], free: {} } });

  // The claim's first step is to ask for the time: it is held up there, with its snapshot taken.
  const [pool] = await given.query<{ pid: number }>(
    `select pid from pg_stat_activity where application_name = 'workron' and query like $1 and query like '%closed as%'`,
    [`%${schema}%`],
  );
  assert.ok(pool);
  await given.query(`create function "${schema}".held_up() returns timestamptz language plpgsql volatile as $$ begin
    if pg_backend_pid() = ${pool.pid} then perform pg_advisory_xact_lock_shared(${job.id}, ${pool.pid}); end if;
    return clock_timestamp(); end $$`);
  await given.query(`create or replace function "${schema}".now() returns timestamptz language sql volatile as
    $$ select "${schema}".held_up() $$`);
  const gate = await connect(given);
  await gate.query('select pg_advisory_lock($1, $2)', [job.id, pool.pid]);
  const claiming = claim(store, id);
  await eventually(
    async () =>
      (
        await given.query('select 1 from pg_locks where locktype = $1 and not granted and pid = $2', [
          'advisory',
          pool.pid,
        ])
      ).length > 0,
  );
  await using editor = await openTestPostgres({ url: given.url, schema });
  // Nothing that the live row itself would have to tell.
  await editor.store.edit(job.id, { timeoutMs: 7_000, tags: ['new'] }, forever);
  await gate.end();

  assert.deepEqual(
    (await claiming).map(({ timeoutMs, tags }) => ({ timeoutMs, tags })),
    [{ timeoutMs: 7_000, tags: ['new'] }],
  );
});

test('postgres: a mixed load on shared jobs makes no two transactions wait for each other', async () => {
  const warnings: string[] = [];
  const log: Log = { ...silentLog, warn: (fields, message) => warnings.push(`${message}: ${JSON.stringify(fields)}`) };
  await using given = await openTestPostgres({ log });
  const { store } = given;
  const workers = await Promise.all(Array.from({ length: 4 }, () => register(store)));
  let settled = 0;
  let seq = 0;
  const submitter = async () => {
    for (let round = 0; round < 8; round += 1) {
      const unique = (key: string) => ({ key, while: 'active', onConflict: 'replace' }) as const;
      const keyed = ['b', 'a', 'c'].map((key) => aJob({ unique: unique(key), priority: round }));
      await Promise.all([submit(store, jobs(20)), submit(store, keyed), submit(store, [...keyed].reverse())]);
    }
  };
  const worker = async (workerId: number, turn: number) => {
    for (let round = 0; round < 12; round += 1) {
      seq += 1;
      const leases = (await claim(store, workerId, { limit: 15, claimSeq: seq })).map((job) => ({ job, workerId }));
      const backwards = [...leases].reverse();
      const [failing, fine] = [backwards.slice(0, turn), backwards.slice(turn)] as const;
      const cancelled = leases.slice(-2).map(({ job }) => cancel(store, job.id).catch(() => undefined));
      const [answers] = await Promise.all([
        store.settle(
          fine.map((lease) => success(lease)),
          forever,
        ),
        ...failing.map((lease) => fail(store, lease).catch(() => undefined)),
        ...cancelled,
        store.heartbeat({ workerId, leases: [], seenClaim: seq }, forever),
        store.promote(10, forever),
      ]);
      settled += answers.filter(({ result }) => result === 'ok').length;
    }
  };
  await Promise.all([submitter(), submitter(), ...workers.map(({ id }, turn) => worker(id, turn))]);
  assert.ok(settled > 0);
  assert.deepEqual(warnings, []);
});

test('postgres: a call that had to give way to another transaction is done again, and counted', async () => {
  await using given = await openTestPostgres();
  const { store, schema } = given;
  const [first, second] = await submit(store, jobs(2));
  const { id } = await register(store);
  const taken = await claim(store, id, { limit: 2 });
  const other = await connect(given);
  const lock = (jobId: number | undefined) => `select * from "${schema}".live where job_id = ${jobId} for update`;
  // Only the store looks for a circle, so it is the one to give way.
  await other.query(`set deadlock_timeout = '1h'; begin; ${lock(second?.id)}`);
  const settling = store.settle(
    taken.map((job) => success({ job, workerId: id })),
    forever,
  );
  await eventually(async () => {
    const rows = await given.query(
      `select 1 from pg_stat_activity where wait_event_type = 'Lock' and position($1 in query) > 0 and pid <> pg_backend_pid()`,
      [schema],
    );
    return rows.length === 1;
  });
  assert.equal(store.deadlocks(), 0);
  await other.query(lock(first?.id));
  await other.query('rollback');
  await other.end();
  assert.deepEqual(
    (await settling).map(({ result }) => result),
    ['ok', 'ok'],
  );
  // Done again, it may have been the first to get the row once more.
  const counted = store.deadlocks();
  assert.ok(counted >= 1);
  const metrics = new Metrics('0', 'me');
  metrics.storeDeadlocks = () => store.deadlocks();
  for (const scrape of [1, 2]) {
    const told = /^workron_store_deadlocks_total (\d+)$/m.exec(await metrics.registry.metrics())?.[1];
    assert.equal(Number(told), counted, `scrape ${scrape}`);
  }
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { aJob, anOffer } from '../../contract/kit/builders.ts';
import { cancel, claim, forever, register, submit, submitOne, success } from '../../contract/kit/steps.ts';
import { LANE_KNOWN_MS } from '../../src/core/lane.ts';
import { systemClock } from '../../src/ops/clock.ts';
import { silentLog } from '../../src/ops/log.ts';
import { Metrics } from '../../src/ops/metrics.ts';
import { pruner } from '../../src/scheduler/duties/pruner.ts';
import { JobLog } from '../../src/scheduler/job-log.ts';
import { Telemetry } from '../../src/scheduler/telemetry.ts';
import { eventually } from '../kit/eventually.ts';
import { openTestPostgres, type PostgresTestStore } from '../kit/postgres.ts';

const OLD = 5_000;

/** A store with ended jobs that are old at once, and the duty that deletes them. */
async function scene(old = OLD) {
  const given = await openTestPostgres();
  const { store } = given;
  const { id: workerId } = await register(store);
  await submit(
    store,
    Array.from({ length: old }, () => aJob()),
  );
  const jobs = await claim(store, workerId, { limit: OLD, offer: anOffer() });
  await store.settle(
    jobs.map((job) => success({ job, workerId })),
    forever,
  );
  await sleep(2);
  // Each round comes a minute after the one before.
  let at = 0;
  const clock = { ...systemClock, monotonicMs: () => at };
  const failed: unknown[] = [];
  const log = { ...silentLog, error: (fields: object) => void failed.push((fields as { part: string }).part) };
  const metrics = new Metrics('0', 'i');
  const telemetry = new Telemetry({ metrics, instanceId: 'i', log: new JobLog(silentLog), now: Date.now });
  const duty = pruner(
    { store, clock, log, telemetry },
    { retention: { doneMs: 1, otherMs: 1, statsMs: 1 }, ledgerMs: 1, auditMs: 1 },
  );
  const tick = (afterMs = 60_000) => {
    at += afterMs;
    return duty.tick(forever);
  };
  const counted = () => metrics.registry.getSingleMetricAsString('workron_loop_errors_total');
  return { ...given, tick, failed, counted, left: () => store.count({}, OLD, forever) };
}

/** Makes each statement that deletes more than `most` rows of a table fail. */
async function refuse(
  { query, schema }: { query: (text: string) => Promise<unknown>; schema: string },
  { table, most }: { table: string; most: number },
) {
  await query(`create function "${schema}".refuse_${table}() returns trigger language plpgsql as $$
    begin if (select count(*) from gone) > ${most} then raise exception 'too many'; end if; return null; end $$`);
  await query(`create trigger refuse after delete on "${schema}"."${table}" referencing old table as gone
    for each statement execute function "${schema}".refuse_${table}()`);
}

test('pruner: on a shared store one round deletes thousands of jobs, as many as end meanwhile', async () => {
  await using given = await scene();
  const { tick, left } = given;
  assert.notEqual(await tick(), undefined);
  assert.equal(await tick(), undefined);
  assert.equal(await left(), 0);
});

test('pruner: a batch that fails is halved until it can be deleted', async () => {
  await using given = await scene();
  const { tick, left, failed } = given;
  await refuse(given, { table: 'job', most: 2_000 });
  await tick();
  assert.deepEqual([await left(), failed], [OLD, ['job']]);
  await tick();
  assert.deepEqual([await left(), failed], [OLD, ['job', 'job']]);
  assert.notEqual(await tick(), undefined);
  assert.equal(await left(), OLD - OLD / 4);
  assert.equal(failed.length, 2);
});

/** What the pruner deletes beside jobs, with rows that are old. */
const OLD_ROWS: Record<string, string> = {
  unique_key: `(key, job_id, hold, expires_at) select 'k' || n, 0, 'time', now() - interval '1 day'`,
  idempotency: `(key, fingerprint, answer, created_at) select 'k' || n, 'f', '[]', now() - interval '2 days'`,
  stat: `(minute, instance_id, queue, outcome, count, wait, run) select now() - interval '1 day', 'i', 'q' || n, 'done', 1, '{}', '{}'`,
  alarm: `(subject, raised_at) select 's' || n, now() - interval '1 day'`,
  tick: `(schedule_id, kind, key, scheduled_for, through, count, verdict, created_at)
    select 1, 'manual', '', now(), now(), 1, 'ran', now() - interval '1 day'`,
  audit: `(at, actor, address, action, subject, request_id) select now() - interval '1 day', 'a', '', '', '', ''`,
};

async function writeOld({ query, schema }: PostgresTestStore, rows: number): Promise<void> {
  for (const [table, values] of Object.entries(OLD_ROWS)) {
    await query(`insert into "${schema}".${table} ${values} from generate_series(1, ${rows}) n`);
  }
}

async function tablesWithRows({ query, schema }: PostgresTestStore): Promise<string[]> {
  const filled: string[] = [];
  for (const table of Object.keys(OLD_ROWS)) {
    const rows = await query(`select 1 from "${schema}".${table} limit 1`);
    if (rows.length > 0) filled.push(table);
  }
  return filled;
}

test('pruner: a kind of rows that cannot be deleted is counted, and keeps no others from being deleted', async () => {
  for (const table of Object.keys(OLD_ROWS)) {
    await using given = await scene(10);
    await writeOld(given, 10);
    await refuse(given, { table, most: 0 });
    assert.equal(await given.tick(), undefined);
    assert.deepEqual([await tablesWithRows(given), await given.left(), given.failed], [[table], 0, [table]]);
    assert.match(await given.counted(), new RegExp(`loop="pruner: ${table}"\\} 1$`, 'm'));
  }
});

test('pruner: a backlog of any kind is deleted in batches', async () => {
  await using given = await scene(0);
  await writeOld(given, 11_000);
  for (const table of Object.keys(OLD_ROWS)) await refuse(given, { table, most: 5_000 });
  for (const rounds of [1, 2]) assert.notEqual(await given.tick(), undefined, `after ${rounds} rounds`);
  assert.equal(await given.tick(), undefined);
  assert.deepEqual([await tablesWithRows(given), given.failed], [[], []]);
});

test('pruner: jobs of one status that cannot be deleted keep no others', async () => {
  await using given = await scene(10);
  const { store, query, schema, tick, left } = given;
  for (let count = 0; count < 3; count += 1) await cancel(store, (await submitOne(store, aJob())).id);
  await query(`create function "${schema}".refuse() returns trigger language plpgsql as $$
    begin if old.status = 'done' then raise exception 'kept'; end if; return old; end $$`);
  await query(`create trigger refuse before delete on "${schema}".run
    for each row execute function "${schema}".refuse()`);
  await sleep(2);
  await tick();
  assert.deepEqual([await left(), given.failed], [10, ['job']]);
});

test('pruner: a lane is deleted when no process can know it from before its mark', async () => {
  await using given = await scene(1);
  const { tick, query, schema } = given;
  const lanes = () => query(`select key from "${schema}".lane`);
  await tick();
  await tick(2 * LANE_KNOWN_MS - 60_000);
  assert.equal((await lanes()).length, 1);
  // Others that use the server may keep it for another round.
  await eventually(async () => {
    await tick(2 * LANE_KNOWN_MS);
    return (await lanes()).length === 0;
  });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { forever } from '../../../contract/kit/steps.ts';
import { statements } from '../../../src/store/postgres/base/sql.ts';
import { effort } from '../../effort.ts';
import { openTestPostgres } from '../../kit/postgres.ts';

/** More than one window of the pruner. */
const MANY = 25_000;
const HOUR = 3_600_000;
const KEEP_AN_HOUR = { doneMs: HOUR, otherMs: HOUR, statsMs: HOUR };

/** Ended jobs `from` to `to`, `hours` old, as steps of a workflow if one is given. */
async function writeEnded(
  client: pg.Client,
  schema: string,
  { from, to, hours, workflowId = null }: { from: number; to: number; hours: number; workflowId?: number | null },
): Promise<void> {
  const at = `now() - ${hours} * interval '1 hour'`;
  await client.query(
    `insert into "${schema}".job (id, queue, kind, priority, tags, created_at, spec, workflow_id)
      select n, 'default', 'noop', 0, '{}', ${at}, '{}', $3 from generate_series($1::bigint, $2::bigint) n`,
    [from, to, workflowId],
  );
  await client.query(
    `insert into "${schema}".run (job_id, attempt, attempts, started_at, ended_at, status, outcome)
      select n, 1, 1, ${at}, ${at}, 'done', 'done' from generate_series($1::bigint, $2::bigint) n`,
    [from, to],
  );
}

async function scene() {
  const stack = new AsyncDisposableStack();
  const given = stack.use(await openTestPostgres());
  const client = new pg.Client({ connectionString: given.url });
  await client.connect();
  stack.defer(() => client.end());
  return { ...given, client, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

test('postgres prune: old jobs behind many that are kept are deleted by the same call', async () => {
  await using given = await scene();
  const { store, client, schema } = given;
  await writeEnded(client, schema, { from: 1, to: MANY, hours: 2, workflowId: 1 });
  await writeEnded(client, schema, { from: MANY + 1, to: MANY + 10, hours: 2 });
  assert.equal(await store.prune(KEEP_AN_HOUR, 100, forever), 10);
});

test('postgres prune: jobs that are too young are not read', async () => {
  await using given = await scene();
  const { client, schema } = given;
  await writeEnded(client, schema, { from: 1, to: 10, hours: 2 });
  await writeEnded(client, schema, { from: 11, to: MANY, hours: 0 });
  await client.query(`vacuum analyze "${schema}".job, "${schema}".run`);
  await client.query('set plan_cache_mode = force_generic_plan; set enable_seqscan = off; set enable_bitmapscan = off');
  const { text } = statements(schema, { prepared: false }).oldEndedDone;
  const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>(
    `explain (analyze, buffers, format json) ${text}`,
    [HOUR, 0, 20_000, 101],
  );
  const { Plan: plan } = (rows[0] as (typeof rows)[0])['QUERY PLAN'][0];
  const pages = (plan['Shared Hit Blocks'] as number) + (plan['Shared Read Blocks'] as number);
  assert.equal(plan['Actual Rows'], 10);
  assert.ok(pages < 200, `read ${pages} pages`);
});

test('postgres prune: jobs that were looked at while they were too young are found again', {
  skip: effort.full ? false : 'only with full effort',
}, async () => {
  await using given = await scene();
  const { store, client, schema } = given;
  // As many as a call reads, and within the time that ids and creation may differ.
  const young = 220_000;
  await writeEnded(client, schema, { from: 1, to: young, hours: 0.99 });
  assert.equal(await store.prune(KEEP_AN_HOUR, 10, forever), 0);
  await client.query(`update "${schema}".run set ended_at = ended_at - interval '1 hour' where job_id <= 10`);
  await writeEnded(client, schema, { from: young + 1, to: young + 500_000, hours: 0.99 });
  assert.equal(await store.prune(KEEP_AN_HOUR, 100, forever), 10);
});

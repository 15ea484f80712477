import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { forever } from '../../../contract/kit/steps.ts';
import { engine } from '../../../src/store/engine/engine.ts';
import { postgresRenderer } from '../../../src/store/sql/sql.ts';
import { fullOnly } from '../../full-only.ts';
import { statementOf, statementsOf, sweepOf } from '../../kit/engine-statement.ts';
import { openTestPostgres } from '../../kit/postgres.ts';
import { queriesOf } from '../../kit/store-tour.ts';

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
  const { store, client, schema } = given;
  await writeEnded(client, schema, { from: 1, to: 10, hours: 2 });
  await writeEnded(client, schema, { from: 11, to: MANY, hours: 0 });
  await client.query(`vacuum analyze "${schema}".job, "${schema}".run`);
  await client.query('set plan_cache_mode = force_generic_plan; set enable_seqscan = off; set enable_bitmapscan = off');
  let count = 0;
  const sent = await queriesOf(async () => {
    count = await store.prune(KEEP_AN_HOUR, 100, forever);
  });
  assert.equal(count, 10);
  for (const { text, values } of sent.filter((query) => /^(select|with recursive)/.test(query.text))) {
    const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>(
      `explain (analyze, buffers, format json) ${text}`,
      values,
    );
    const { Plan: plan } = (rows[0] as (typeof rows)[0])['QUERY PLAN'][0];
    const pages = (plan['Shared Hit Blocks'] as number) + (plan['Shared Read Blocks'] as number);
    assert.ok(pages < 200, `read ${pages} pages: ${text}`);
  }
});

test('postgres prune: jobs that were looked at while they were too young are found again', {
  skip: fullOnly('prune: jobs that were too young'),
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

const YOUNG = 20_000;
/** By table: old rows are days older than young ones; and what finds or deletes them. */
const RETAINED = {
  unique_key: {
    rows: `(key, job_id, hold, expires_at) select 'k' || n, n, 'time', now() + at`,
    sweep: 'unique_key',
  },
  idempotency: {
    rows: `(key, fingerprint, answer, created_at) select 'k' || n, 'f', '[]', now() + at`,
    sweep: 'idempotency',
  },
  alarm: { rows: `(subject, raised_at) select 's' || n, now() + at`, sweep: 'alarm' },
  stat: {
    rows: `(minute, instance_id, queue, outcome, count, wait, run) select now() + at, 'i', 'q' || n, 'done', 1, '{}', '{}'`,
    sweep: 'stat',
  },
  audit: {
    rows: `(at, actor, address, action, subject, request_id) select now() + at, 'a', '', '', 's' || n, ''`,
    sweep: 'pruneAudit',
  },
  workflow: {
    rows: `(id, name, params, status, created_at, ended_at, total, open_steps) select n, 'w', '{}', 'failed', now() + at, now() + at, 0, 0`,
    sweep: 'oldWorkflows',
  },
  gang: {
    rows: `(id, job_id, term, failures, charged, stops, stopping) select 'g' || n, n, 1, 0, 0, 0, false`,
    sweep: 'gang',
  },
} as const;

test('postgres prune: rows that are kept are not read', async () => {
  await using given = await scene();
  const { client, schema } = given;
  // Old rows come last, as if they had been restored: neither their place nor their number tells that they are old.
  for (const [table, { rows }] of Object.entries(RETAINED)) {
    await client.query(`insert into "${schema}".${table} ${rows} from (
      select n, case when n <= ${YOUNG} then interval '1 minute' else interval '-3 days' end as at
      from generate_series(1, ${YOUNG + 10}) n) n`);
    await client.query(`vacuum analyze "${schema}".${table}`);
  }
  await client.query('set plan_cache_mode = force_generic_plan; set enable_seqscan = off; set enable_bitmapscan = off');
  const render = postgresRenderer(`"${schema}"`);
  const finds = (await statementsOf((tx) => engine.prune.run(tx, KEEP_AN_HOUR, 1_000))).map(render);
  for (const [table, { sweep }] of Object.entries(RETAINED)) {
    const { text, values } =
      sweep === 'pruneAudit'
        ? render(await statementOf((tx) => engine.pruneAudit.run(tx, HOUR, 1_000)))
        : sweep === 'oldWorkflows'
          ? (finds.find((find) => /\bworkflow w/.test(find.text) && find.values.includes('failed')) ?? assert.fail())
          : sweep === 'gang'
            ? render(await statementOf((tx) => engine.sweep.run(tx, 'gang', KEEP_AN_HOUR, 10)))
            : render(await sweepOf(sweep, KEEP_AN_HOUR, 1_000));
    const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>(
      `explain (analyze, buffers, format json) ${text}`,
      [...values],
    );
    const { Plan: plan } = (rows[0] as (typeof rows)[0])['QUERY PLAN'][0];
    const pages = (plan['Shared Hit Blocks'] as number) + (plan['Shared Read Blocks'] as number);
    assert.ok(pages < 150, `${sweep} read ${pages} pages`);
    const left = await client.query(`select 1 from "${schema}".${table}`);
    if (table === 'workflow') assert.equal(plan['Actual Rows'], 10);
    else assert.equal(left.rowCount, table === 'gang' ? YOUNG + 10 : YOUNG, table);
  }
});

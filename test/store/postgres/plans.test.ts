/**
 * The plan of every statement, in a session of the store. None may start parallel workers or compile itself, and none may read all of
 * a table that grows with the number of jobs: one that does so costs nothing in a test, and more every day afterwards.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { forever } from '../../../contract/kit/steps.ts';
import { silentLog } from '../../../src/ops/log.ts';
import { Database } from '../../../src/store/postgres/base/database.ts';
import { statements } from '../../../src/store/postgres/base/sql.ts';
import { fillTables } from '../../kit/fill-tables.ts';
import { openTestPostgres, type PostgresTestStore, queriesTo, testPostgresUrl } from '../../kit/postgres.ts';
import { wantedVersion } from '../../kit/postgres-binaries.ts';
import { tourStore } from '../../kit/store-tour.ts';

/** Tables that may be read as a whole, with what their number of rows depends on. */
const SMALL: Record<string, string> = {
  meta: 'has one row',
  instance: 'processes',
  leader: 'duties',
  waiter: 'processes',
  worker: 'workers; offline ones are deleted after a while',
  reservation: 'workers',
  claim: 'claims of jobs that run',
  place: 'members of gangs that run',
  gang: 'gangs that are not deleted; the pruner reads them',
  queue: 'queues with settings',
  fair_queue: 'queues',
  lane: 'kinds of jobs',
  token: 'tokens that people have created',
  session: 'people who are logged in, or were lately',
  secret: 'secrets that people have stored',
  definition: 'definitions that people have stored',
};

/** Statements that may read all of a table, by `statement table`. */
const ALLOWED: Record<string, string> = {
  'claimCrowd live': 'walks live_crowd in the order of claims until it has enough',
  'claimCrowdPrefetch live': 'as claimCrowd',
  'queues live': 'counts every unfinished job',
  'queues parking': 'as queues live; one per lane and key that jobs wait for',
  'setQueue live': 'counts every unfinished job of the lanes of a queue',
  'deleteQueue live': 'a person deletes a queue; the first job ends the search',
  'graphWork intake': 'the first row ends the search',
  'graphWork cascade': 'the first row ends the search',
  'graphWork job_group': 'the first row ends the search',
  'promote parking': 'the first row ends the search; those that are due: one per lane and key that jobs wait for',
  'tick (nothing) tick': 'the first row ends the search',
  'rates meter': 'lists every rate that is in use',
  'putDefinition schedule': 'a person stores a definition',
  'deleteDefinition schedule': 'a person deletes a definition',
  'list job': 'the newest, until the page is full',
  'count job': 'until its limit',
  'openOperations operation': 'reads operation_running, which has only those',
  'audit audit': 'by filters that no index has; pages of the newest entries',
  'deleteLanes live': 'every two hours, if lanes seem unused',
  'sweep meter meter': 'once a minute, until it has found enough',
};

interface Node {
  'Node Type': string;
  'Parallel Aware': boolean;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Index Cond'?: string;
  Filter?: string;
  Plans?: Node[];
}

interface Explained {
  Plan: Node;
  JIT?: unknown;
}

/** What is wrong with a plan, as `table: what is read`, or what the plan uses that it must not. */
function faultsOf({ Plan: plan, JIT: jit }: Explained): string[] {
  const faults = jit === undefined ? [] : ['is compiled'];
  /** `limited`: the node's rows are read one by one until a limit is reached. */
  const walk = (node: Node, limited: boolean): void => {
    const type = node['Node Type'];
    const table = node['Relation Name'];
    if (type.startsWith('Gather') || node['Parallel Aware']) faults.push(`${type} in parallel`);
    const readsAll = type === 'Seq Scan' || (/^Index.* Scan$/.test(type) && node['Index Cond'] === undefined);
    const stopsEarly = limited && type !== 'Seq Scan' && node.Filter === undefined;
    if (table !== undefined && readsAll && !stopsEarly && !(table in SMALL)) {
      faults.push(`${table}: ${type} ${node['Index Name'] ?? ''} ${node.Filter ?? ''}`);
    }
    const keepsLimit = limited && ['LockRows', 'Result', 'Subquery Scan'].includes(type);
    for (const child of node.Plans ?? []) walk(child, type === 'Limit' || keepsLimit);
  };
  walk(plan, false);
  return faults;
}

/** The plan that a prepared statement keeps for all values. */
async function explain(database: Database, text: string): Promise<Explained> {
  const query = <Row>(statement: string) => database.query<Row>({ text: statement }, [], forever);
  await query(`prepare explained as ${text}`);
  try {
    const [row] = await query<{ count: number }>(
      `select cardinality(parameter_types) as count from pg_prepared_statements where name = 'explained'`,
    );
    const values = Array.from({ length: row?.count ?? 0 }, () => 'null').join(', ');
    const call = values === '' ? 'explained' : `explained(${values})`;
    const [plan] = await query<{ 'QUERY PLAN': [Explained] }>(`explain (format json) execute ${call}`);
    return plan?.['QUERY PLAN'][0] ?? assert.fail();
  } finally {
    await query('deallocate explained');
  }
}

/** Rows that make each function run all its statements: a step with a child ends, and a job with a key and a parent comes. */
const SETTING = (s: string) => `
  select setval('${s}.job_id', 1000000);
  insert into ${s}.live (job_id, due, lane, rank, listed_as, claimed, attempt, worker_id, flags, open_edges, held_edges, broken_edges, missed_edges)
    values (900001, now(), 1, 0, 'running', true, 1, 1, 1, null, null, null, null), (900002, now(), 1, 0, 'blocked', false, 0, null, 0, 1, 0, 0, 0),
      (900003, now(), 1, 0, 'running', true, 1, 1, 9, null, null, null, null);
  insert into ${s}.edge (child_id, parent_id, condition, state) values (900002, 900001, 'success', 'open');
  insert into ${s}.workflow (id, name, params, status, created_at, total, open_steps) values (900001, 'w', '{}', 'running', now(), 2, 2);
  insert into ${s}.job (id, queue, kind, priority, tags, created_at, spec) values (900001, 'q', 'k', 0, '{}', now(), '{}')`;
const CALLS: Record<string, (s: string) => string> = {
  end_linked: (s) => `select * from ${s}.end_linked(array[900001], array[1], array[1], array[0], array['1']::jsonb[],
    array[null]::float8[], array[null]::bigint[], array[null]::bigint[], array[900001])`,
  submit: (s) => `select ${s}.submit(handler => 'k', unique_key => 'a', depends_on => array[900001])`,
  complete: (s) => `select ${s}.complete(900003, 1, 1, '1')`,
};

/** The plans of all statements that a call of a function runs, in a session as the store's. The call is rolled back. */
async function explainWithin(
  database: Database,
  { url, schema }: PostgresTestStore,
  call: string,
): Promise<Explained[]> {
  const settings = `select name, setting from pg_settings where source = 'session'`;
  const rows = await database.query<{ name: string; setting: string }>({ text: settings }, [], forever);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (const { name, setting } of rows) await client.query('select set_config($1, $2, false)', [name, setting]);
    await client.query(`begin; ${SETTING(`"${schema}"`)}; load 'auto_explain'; set auto_explain.log_min_duration = 0;
      set auto_explain.log_nested_statements = on; set auto_explain.log_format = json; set auto_explain.log_level = notice`);
    const plans: Explained[] = [];
    client.on('notice', ({ message = '' }) => {
      if (/plan:/.test(message)) plans.push(JSON.parse(message.slice(message.indexOf('{'))) as Explained);
    });
    await client.query(call);
    return plans;
  } finally {
    await client.end();
  }
}

/** The statements of the engine, each with a call that sends it. */
async function engineStatements({ url, schema }: PostgresTestStore): Promise<Map<string, string>> {
  await using given = await openTestPostgres({ url });
  const known = new Set(Object.values(statements(given.schema)).map(({ text }) => text));
  const found = new Map<string, string>();
  await tourStore(
    given.store,
    (ms) => given.advance(ms),
    (call, text) => {
      const isPlanned = /^\s*(with|select|insert|update|delete)\b/.test(text) && !known.has(text);
      if (isPlanned) found.set(text.replaceAll(`"${given.schema}"`, `"${schema}"`), call);
    },
  );
  return found;
}

async function faultsOfAll(database: Database, given: PostgresTestStore): Promise<string[]> {
  const faults: string[] = [];
  const note = (name: string, plan: Explained) => {
    for (const fault of faultsOf(plan)) {
      if (!(`${name} ${fault.split(':')[0]}` in ALLOWED)) faults.push(`${name}: ${fault}`);
    }
  };
  for (const [name, { text }] of Object.entries(statements(given.schema))) {
    if (!text.startsWith('lock table')) note(name, await explain(database, text));
  }
  for (const [text, call] of await engineStatements(given)) note(call, await explain(database, text));
  for (const [name, call] of Object.entries(CALLS)) {
    const plans = await explainWithin(database, given, call(`"${given.schema}"`));
    assert.ok(plans.length > 4, `${name} ran ${plans.length} statements`);
    for (const plan of plans) note(name, plan);
  }
  return faults;
}

for (const scene of ['of a new installation', 'of large tables, with statistics'] as const) {
  test(`postgres plans ${scene}: no statement reads all of a table that grows, none is parallel or compiled`, async () => {
    await using given = await openTestPostgres();
    if (scene !== 'of a new installation') {
      await fillTables(given, { rows: 10_000, small: new Set(Object.keys(SMALL)) });
    }
    // Of one connection, so that what it prepares is there.
    await using database = Database.open({ url: given.url, poolSize: 1, log: silentLog });
    assert.deepEqual(await faultsOfAll(database, given), []);
  });
}

test('postgres: the server is of the version that the run asks for', {
  skip: wantedVersion() === undefined,
}, async () => {
  const [row] = await queriesTo(await testPostgresUrl())<{ server_version_num: string }>('show server_version_num');
  assert.equal(Math.floor(Number(row?.server_version_num) / 10_000), wantedVersion());
});

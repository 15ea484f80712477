/**
 * A prototype: what it would cost and save on PostgreSQL if `job` and `run` were partitioned.
 * `node bench/partitions.ts [jobs] [partitions]`, 300,000 in 30 by default: a month of 10,000 jobs a day.
 *
 * The partitions are ranges of ids. Ids rise with time, so a range is a stretch of time, the primary keys stay as they are, and a
 * job is found in one partition by its id. Ranges of `ended_at` would need it in both keys, and every read by id would go through
 * all partitions.
 */

import pg from 'pg';
import { openStore } from '../src/node/open-store.ts';
import { silentLog } from '../src/ops/log.ts';
import { startPostgres } from '../test/kit/postgres.ts';
import { type Admin, connectAdmin } from './admin.ts';
import { processorTimeUs } from './processor-time.ts';

const [jobs, partitions] = [Number(process.argv[2] ?? 300_000), Number(process.argv[3] ?? 30)];
const perPartition = Math.ceil(jobs / partitions);
const BATCH = 1_000;
const READS = 200;
const LAYOUTS = ['plain', 'parts'] as const;
type Layout = (typeof LAYOUTS)[number];

/** `$1` is a random id. Named statements, as Workron sends them. */
const QUERIES: readonly [what: string, text: string][] = [
  ['one job', `select * from S.job j join S.run r on r.job_id = j.id where j.id = $1::int`],
  ['the newest 50', `select * from S.job where $1::int > 0 order by id desc limit 50`],
  [
    'the newest 50 of a queue',
    `select * from S.job where queue = 'queue-' || ($1::int % 20) order by id desc limit 50`,
  ],
  [
    'the newest 50 failed',
    `select job_id from S.run where status = 'failed' and status <> 'done' and $1::int > 0 order by job_id desc limit 50`,
  ],
  ['50 of a name that is not there', `select * from S.job where name = 'none-' || $1::int order by id desc limit 50`],
];

interface Cost {
  wallMs: number;
  processorMs: number;
  walBytes: number;
  /** Images of whole pages, the first change of each after a checkpoint, are not counted here. */
  changesBytes: number;
}

await using server = await startPostgres({ durable: true });
await using admin: Admin = await connectAdmin(server.url);
const client = new pg.Client(server.url);
await client.connect();
try {
  await createPlain();
  await createParts();
  await append();
  await admin.settle({ analyze: true });
  await sizes();
  await reads();
  await prune();
} finally {
  await client.end();
}

/** The tables of Workron itself. */
async function createPlain(): Promise<void> {
  const store = { driver: 'postgres' as const, url: server.url };
  const settings = { store, dbDirectUrl: null, dbSchema: 'plain', dbPool: 2, dbPreparedStatements: true };
  await (await openStore(settings, { log: silentLog, migrate: true }))[Symbol.asyncDispose]();
}

/** The same columns, keys and indexes in partitions. An index across partitions can be unique only with the id in it. */
async function createParts(): Promise<void> {
  await client.query('create schema parts');
  for (const [table, id, key] of [
    ['job', 'id', 'id'],
    ['run', 'job_id', 'job_id, attempt'],
  ]) {
    await client.query(`create table parts.${table} (like plain.${table} including defaults, primary key (${key}))
      partition by range (${id})`);
    for (let part = 0; part < partitions; part += 1) await client.query(partition(table as string, part));
  }
  const { rows } = await client.query<{ indexdef: string }>(
    `select indexdef from pg_indexes where schemaname = 'plain' and tablename in ('job', 'run') and indexname not like '%_pkey'`,
  );
  for (const { indexdef } of rows) {
    await client.query(
      indexdef.replace('create unique', 'create').replace('UNIQUE ', '').replaceAll('plain.', 'parts.'),
    );
  }
}

function partition(table: string, part: number): string {
  return `create table parts.${table}_${part} partition of parts.${table}
    for values from (${part * perPartition + 1}) to (${(part + 1) * perPartition + 1})`;
}

async function measure(body: () => Promise<unknown>): Promise<Cost> {
  await admin.settle({ analyze: false });
  const [position, time, at] = [await admin.walPosition(), processorTimeUs([admin.postmaster]), performance.now()];
  await body();
  const wallMs = performance.now() - at;
  const processorMs = (processorTimeUs([admin.postmaster]) - time) / 1_000;
  const { bytes, fullPageBytes } = await admin.walSince(position);
  return { wallMs, processorMs, walBytes: bytes, changesBytes: bytes - fullPageBytes };
}

/** Submits and ends the jobs in batches. A hundredth fails. The layouts take turns, so that both meet the same machine. */
async function append(): Promise<void> {
  const sums: Record<Layout, Cost> = {
    plain: { wallMs: 0, processorMs: 0, walBytes: 0, changesBytes: 0 },
    parts: { wallMs: 0, processorMs: 0, walBytes: 0, changesBytes: 0 },
  };
  for (let part = 0; part < partitions; part += 1) {
    for (const layout of part % 2 === 0 ? LAYOUTS : LAYOUTS.toReversed()) {
      const cost = await measure(() => appendPart(layout, part));
      for (const key of ['wallMs', 'processorMs', 'walBytes', 'changesBytes'] as const) sums[layout][key] += cost[key];
    }
  }
  console.log(
    `| ${jobs} jobs, ${partitions} partitions | jobs/s | processor time per job | log per job | without page images |\n|---|---|---|---|---|`,
  );
  for (const layout of LAYOUTS) {
    const { wallMs, processorMs, walBytes, changesBytes } = sums[layout];
    const bytes = [walBytes, changesBytes].map((sum) => `${(sum / jobs).toFixed(0)} B`);
    const perJob = [`${((processorMs * 1_000) / jobs).toFixed(1)} µs`, ...bytes];
    console.log(`| append, ${layout} | ${Math.round(jobs / (wallMs / 1_000))} | ${perJob.join(' | ')} |`);
  }
}

async function appendPart(layout: Layout, part: number): Promise<void> {
  const end = Math.min((part + 1) * perPartition, jobs);
  for (let first = part * perPartition + 1; first <= end; first += BATCH) {
    const range = [first, Math.min(first + BATCH - 1, end)];
    await client.query({
      name: `job ${layout}`,
      text: `insert into ${layout}.job (id, queue, kind, name, priority, tags, created_at, spec)
        select i, 'queue-' || (i % 20), '', 'job-' || (i % 500), 0, '{}', now(),
          jsonb_build_object('command', 'echo working on item ' || i) from generate_series($1::int, $2::int) i`,
      values: range,
    });
    await client.query({
      name: `run ${layout}`,
      text: `insert into ${layout}.run (job_id, started_at, ended_at, due, attempt, worker_id, attempts, status, outcome, exit_code)
        select i, now(), now(), now(), 1, 1, 1, s, s, 0 from generate_series($1::int, $2::int) i,
          lateral (select case when i % 100 = 0 then 'failed' else 'done' end as s) ends`,
      values: range,
    });
  }
}

async function sizes(): Promise<void> {
  console.log('\n| | tables | indexes |\n|---|---|---|');
  for (const layout of LAYOUTS) {
    const { rows } = await client.query<{ tables: string; indexes: string }>(
      `select sum(pg_table_size(c.oid)) as tables, sum(pg_indexes_size(c.oid)) as indexes from pg_class c
        where relkind = 'r' and relnamespace = $1::regnamespace and relname ~ '^(job|run)(_[0-9]+)?$'`,
      [layout],
    );
    const megabytes = (bytes: string | undefined) => `${(Number(bytes) / 1e6).toFixed(0)} MB`;
    console.log(`| ${layout} | ${megabytes(rows[0]?.tables)} | ${megabytes(rows[0]?.indexes)} |`);
  }
}

async function reads(): Promise<void> {
  console.log('\n| read, median | plain | parts |\n|---|---|---|');
  for (const [what, text] of QUERIES) {
    const cells: string[] = [];
    for (const layout of LAYOUTS) {
      const times: number[] = [];
      for (let read = 0; read < READS; read += 1) {
        const at = performance.now();
        const values = [1 + Math.floor(Math.random() * jobs)];
        await client.query({ name: `${what} ${layout}`, text: text.replaceAll('S.', `${layout}.`), values });
        times.push(performance.now() - at);
      }
      const pages = await pagesOf(text.replaceAll('S.', `${layout}.`).replaceAll('$1', String(jobs >> 1)));
      cells.push(`${times.sort((a, b) => a - b)[READS >> 1]?.toFixed(2)} ms, ${pages} pages`);
    }
    console.log(`| ${what} | ${cells.join(' | ')} |`);
  }
}

async function pagesOf(text: string): Promise<number> {
  const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>(
    `explain (analyze, buffers, format json) ${text}`,
  );
  const plan = rows[0]?.['QUERY PLAN'][0].Plan ?? {};
  return (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0);
}

/** Retention of the oldest stretch of time: done jobs go, failed ones stay. */
async function prune(): Promise<void> {
  const deleted = await measure(deleteOldest);
  const vacuumed = await measure(async () => {
    await client.query('vacuum plain.job');
    await client.query('vacuum plain.run');
  });
  const swapped = await measure(swapOldest);
  console.log(`\n| prune ${perPartition} jobs | time | processor time | log |\n|---|---|---|---|`);
  const print = (what: string, { wallMs, processorMs, walBytes }: Cost) =>
    console.log(
      `| ${what} | ${wallMs.toFixed(0)} ms | ${processorMs.toFixed(0)} ms | ${(walBytes / 1e6).toFixed(2)} MB |`,
    );
  print('delete in batches, plain', deleted);
  print('the vacuum that follows', vacuumed);
  print('drop a partition, failed jobs copied', swapped);
}

async function deleteOldest(): Promise<void> {
  for (let first = 1; first <= perPartition; first += BATCH) {
    await client.query({
      name: 'prune',
      text: `with gone as (select job_id from plain.run where job_id between $1::int and $2::int and status = 'done'),
        runs as (delete from plain.run r using gone where r.job_id = gone.job_id)
        delete from plain.job j using gone where j.id = gone.job_id`,
      values: [first, first + BATCH - 1],
    });
  }
}

/** Everybody who writes to the tables waits for this transaction. */
async function swapOldest(): Promise<void> {
  await client.query('begin');
  for (const table of ['job', 'run']) {
    await client.query(`alter table parts.${table} detach partition parts.${table}_0`);
    await client.query(`alter table parts.${table}_0 rename to ${table}_old`);
    await client.query(partition(table, 0));
  }
  await client.query(
    `insert into parts.job select j.* from parts.job_old j join parts.run_old r on r.job_id = j.id and r.status <> 'done'`,
  );
  await client.query(`insert into parts.run select * from parts.run_old where status <> 'done'`);
  await client.query('drop table parts.job_old, parts.run_old');
  await client.query('commit');
}

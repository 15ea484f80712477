/**
 * Moves a stopped installation from a SQLite file to PostgreSQL. Each table is one transaction, so that a run that was killed
 * goes on with the next table. Until all tables are there and compared, the target is marked as needing newer code: no
 * Workron starts on a half of it. Before that mark is removed the file gets one, so that at no moment both can be started.
 */

import { existsSync } from 'node:fs';
import type pg from 'pg';
import { countText } from '../../api/count-text.ts';
import { WorkronError } from '../../core/error.ts';
import { OLDEST_SHARED_CODE } from '../../store/code.ts';
import { migrate } from '../../store/postgres/base/migrate.ts';
import { locationOf } from '../../store/postgres/base/open.ts';
import { Database } from '../../store/sqlite/base/database.ts';
import { homeOf } from '../../store/sqlite/base/home.ts';
import { lockFile } from '../../store/sqlite/base/lock-file.ts';
import { installedVersion } from '../../store/sqlite/base/migrate.ts';
import { MIGRATIONS } from '../../store/sqlite/base/migrations.ts';
import { promotedError, promotionMark, setPromotionMark } from '../../store/sqlite/base/promotion-mark.ts';
import { installationOf } from '../export/sqlite-source.ts';
import { withClient } from './client.ts';
import { textOf } from './convert.ts';
import { copyIn, copyValue } from './copy-in.ts';
import { sequencesOf } from './sequences.ts';
import type { TableSum } from './sum.ts';
import { type MovedTable, movedTables, rowsOf } from './tables.ts';
import { unmark } from './unmark.ts';
import { summing, sumOfSource, sumOfTarget } from './verify.ts';

/** No code has this number. */
const NO_CODE = 2_147_483_647;

export interface PromoteOptions {
  file: string;
  url: string;
  schema: string;
  /** What the database's clock shows less what the file's clock showed. Measured by default. */
  differenceMs?: number;
  /** Reports each step. */
  tell: (line: string) => void;
}

interface Promotion {
  source: number;
  difference_ms: number;
}

type Session = PromoteOptions & { database: Database; client: pg.Client };

/** Moves everything, or what is left of it. Returns the number of rows. */
export async function promote(options: PromoteOptions): Promise<number> {
  return await withBoth(options, async (session) => {
    const { client, schema, tell } = session;
    const begun = await promotionOf(session);
    if (begun === undefined) await migrate({ url: options.url, schema });
    const { difference_ms: differenceMs } = begun ?? (await begin(session));
    tell(`clocks: PostgreSQL is ${differenceMs} ms ahead of this machine`);
    const tables = await movedTables(session.database, client, schema);
    const sums: Sums = new Map();
    for (const table of tables) await copyTable(session, table, differenceMs, sums);
    const rows = await compare(session, tables, differenceMs, sums);
    await finish(session, differenceMs);
    return rows;
  });
}

/** Checks what `promote` would need, and counts what it would move. Nothing is written. */
export async function rehearse(options: PromoteOptions): Promise<void> {
  await withBoth(options, async (session) => {
    const { database, tell } = session;
    const begun = await promotionOf(session);
    if (begun === undefined && (await existing(session))) throw notEmpty(options.schema);
    tell(`clocks: PostgreSQL is ${await clockDifference(session)} ms ahead of this machine`);
    const names = database.all<{ name: string }>(
      `select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' order by name`,
    );
    for (const { name } of names) {
      const count = database.get<{ count: number }>(`select count(*) as count from "${name}"`)?.count ?? 0;
      if (count > 0) tell(`${name}: ${countText(count, 'row')}`);
    }
  });
}

/** Throws if the schema has jobs, workers or schedules, other than by a promotion that has not ended. */
export async function requireEmpty({ url, schema }: Pick<PromoteOptions, 'url' | 'schema'>): Promise<void> {
  await withClient(url, async (client) => {
    if (!(await hasTable(client, schema, 'promotion')) && (await existing({ client, schema }))) throw notEmpty(schema);
  });
}

/** Drops the schema of a promotion that has not ended, and removes the mark that it may have left in the file. */
export async function undo({ url, schema, file }: Pick<PromoteOptions, 'url' | 'schema' | 'file'>): Promise<void> {
  await withClient(url, async (client) => {
    if (!(await hasTable(client, schema, 'promotion'))) {
      throw new WorkronError('bad_request', `Schema ${schema} has no promotion that was begun and has not ended`);
    }
    if (existsSync(file)) unmark(file, await installationThere({ client, schema }));
    await client.query(`drop schema "${schema}" cascade`);
  });
}

async function withBoth<T>(options: PromoteOptions, body: (session: Session) => Promise<T>): Promise<T> {
  const file = homeOf(options.file);
  using _owner = lockFile(file);
  using database = new Database(file, { readOnly: false });
  const [version, newest] = [installedVersion(database, file), MIGRATIONS.at(-1)?.version];
  if (version !== newest) {
    throw new WorkronError(
      'store_unavailable',
      `${file} is at version ${version} of its schema, not ${newest}; run \`workron migrate\``,
    );
  }
  return await withClient(options.url, (client) => body({ ...options, file, database, client }));
}

/**
 * The promotion of this file that was begun; `undefined` if there is none. Throws if the target is used for something else, or if the
 * file is marked by another promotion.
 */
async function promotionOf(session: Session): Promise<Promotion | undefined> {
  const { client, schema, database, file } = session;
  const isBegun = await hasTable(client, schema, 'promotion');
  const mark = promotionMark(database);
  if (mark !== undefined && !(isBegun && mark.installation === (await installationThere(session)))) {
    throw promotedError(file, mark);
  }
  if (!isBegun) return undefined;
  const { rows } = await client.query<Promotion>(`select source, difference_ms from "${schema}".promotion limit 1`);
  const [begun] = rows;
  if (begun === undefined || begun.source === installationOf(database)) return begun;
  throw new WorkronError('bad_request', `Schema ${schema} holds a part of another file; --undo drops it`);
}

async function hasTable(client: pg.Client, schema: string, name: string): Promise<boolean> {
  const { rows } = await client.query<{ there: boolean }>('select to_regclass($1) is not null as there', [
    `"${schema}"."${name}"`,
  ]);
  return rows[0]?.there === true;
}

/** As `installationOf`, of the target. */
async function installationThere({ client, schema }: Pick<Session, 'client' | 'schema'>): Promise<number> {
  const { rows } = await client.query<{ lock_space: number }>(`select lock_space from "${schema}".meta`);
  return rows[0]?.lock_space ?? 0;
}

async function existing({ client, schema }: Pick<Session, 'client' | 'schema'>): Promise<boolean> {
  if (!(await hasTable(client, schema, 'job'))) return false;
  const { rows: jobs } = await client.query(
    `select 1 from "${schema}".job union all select 1 from "${schema}".worker union all select 1 from "${schema}".schedule limit 1`,
  );
  return jobs.length > 0;
}

function notEmpty(schema: string): WorkronError {
  return new WorkronError('bad_request', `Schema ${schema} is not empty; name another one by --db-schema`);
}

async function begin(session: Session): Promise<Promotion> {
  const { client, schema, database } = session;
  if (await existing(session)) throw notEmpty(schema);
  const promotion = { source: installationOf(database), difference_ms: await clockDifference(session) };
  await client.query('begin');
  await client.query(
    `create table "${schema}".promotion (name text primary key, source integer, difference_ms bigint)`,
  );
  await client.query(`insert into "${schema}".promotion values ('', $1, $2)`, [
    promotion.source,
    promotion.difference_ms,
  ]);
  await client.query(`update "${schema}".meta set min_code = ${NO_CODE}`);
  await client.query('commit');
  return promotion;
}

/** Uses the fastest of several answers: the error is at most half of its round trip. */
async function clockDifference({ client, differenceMs }: Session): Promise<number> {
  if (differenceMs !== undefined) return differenceMs;
  let best = { tookMs: Infinity, differenceMs: 0 };
  for (let round = 0; round < 5; round += 1) {
    const [sentAt, start] = [Date.now(), performance.now()];
    const { rows } = await client.query<{ now: string }>(
      `select round(extract(epoch from clock_timestamp()) * 1000)::text as now`,
    );
    const tookMs = performance.now() - start;
    if (tookMs < best.tookMs) {
      best = { tookMs, differenceMs: Math.round(Number(rows[0]?.now) - (sentAt + tookMs / 2)) };
    }
  }
  return best.differenceMs;
}

/** The sums of the tables that this run has copied. */
type Sums = Map<string, TableSum>;

async function copyTable(session: Session, table: MovedTable, differenceMs: number, sums: Sums): Promise<void> {
  const { client, schema, tell } = session;
  const { name } = table;
  const { rows: done } = await client.query(`select 1 from "${schema}".promotion where name = $1`, [name]);
  if (done.length > 0) return tell(`${name}: moved before`);
  await client.query('begin');
  try {
    const indexes = await dropIndexes(client, schema, name);
    const sum = await copyRows(session, table, differenceMs);
    for (const index of indexes) await client.query(index);
    await client.query(`insert into "${schema}".promotion (name) values ($1)`, [name]);
    await client.query('commit');
    sums.set(name, sum);
    if (sum.rows > 0) tell(`${name}: ${countText(sum.rows, 'row')}`);
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    throw error;
  }
}

/** Returns the statements that make them again: one sort of all rows is cheaper than a search for each. */
async function dropIndexes(client: pg.Client, schema: string, table: string): Promise<string[]> {
  await client.query(`set local maintenance_work_mem = '256MB'`);
  const { rows } = await client.query<{ name: string; definition: string }>(
    `select i.indexrelid::regclass::text as name, pg_get_indexdef(i.indexrelid) as definition from pg_index i
     where i.indrelid = $1::regclass and not exists (select 1 from pg_constraint c where c.conindid = i.indexrelid)`,
    [`"${schema}"."${table}"`],
  );
  for (const { name } of rows) await client.query(`drop index ${name}`);
  return rows.map(({ definition }) => definition);
}

async function copyRows(
  { client, schema, database }: Session,
  table: MovedTable,
  differenceMs: number,
): Promise<TableSum> {
  const { name, columns } = table;
  const { sum, add } = summing(table, differenceMs);
  function* lines(): Generator<string> {
    for (const row of rowsOf(database, table)) {
      add(row);
      yield `${columns.map((column, place) => copyValue(textOf(row[place], column, differenceMs))).join('\t')}\n`;
    }
  }
  const names = columns.map((column) => `"${column.name}"`).join(', ');
  // Into a table that was emptied by this transaction, rows can be written as they would be after a vacuum.
  await client.query(`truncate "${schema}"."${name}"`);
  await copyIn(client, `copy "${schema}"."${name}" (${names}) from stdin with (freeze)`, lines());
  return sum.result;
}

async function compare(
  session: Session,
  tables: readonly MovedTable[],
  differenceMs: number,
  sums: Sums,
): Promise<number> {
  const { client, schema, database, tell } = session;
  let rows = 0;
  for (const table of tables) {
    // What an earlier run has copied may have changed in the file since.
    const ours = sums.get(table.name) ?? sumOfSource(database, table, differenceMs);
    const theirs = await sumOfTarget(client, schema, table);
    if (ours.rows !== theirs.rows || ours.checksum !== theirs.checksum) {
      throw new WorkronError(
        'store_unavailable',
        `${table.name} differs: ${countText(ours.rows, 'row')} (${ours.checksum}) in the file, ${theirs.rows} (${theirs.checksum}) in PostgreSQL; was the file used meanwhile? --undo, then promote again`,
      );
    }
    rows += ours.rows;
  }
  tell(`compared: ${countText(tables.length, 'table')}, ${countText(rows, 'row')}`);
  return rows;
}

/** Continues ids above the highest ever given, writes the claims of running jobs, marks the file, and opens the target for everybody. */
async function finish(session: Session, differenceMs: number): Promise<void> {
  const { client, schema, database, file } = session;
  await client.query('begin');
  for (const { name, table } of await sequencesOf(client, schema)) {
    const given = database.get<{ seq: number }>('select seq from sqlite_sequence where name = ?', table);
    if (given !== undefined && given.seq > 0) {
      await client.query('select setval($1::regclass, $2)', [`"${schema}"."${name}"`, given.seq]);
    }
  }
  const claims = database.all<{ worker_id: number; claim_seq: number | null; at: number; ids: string }>(
    `select worker_id, claim_seq, max(coalesce(renewed_at, started_at, due)) as at, json_group_array(job_id) as ids
     from live where status = 'running' and worker_id is not null group by worker_id, claim_seq`,
  );
  for (const { worker_id, claim_seq, at, ids } of claims) {
    await client.query(
      `insert into "${schema}".claim (worker_id, seq, claimed_at, job_ids)
       values ($1, $2, to_timestamp($3::float8 / 1000), array(select jsonb_array_elements_text($4::jsonb)::bigint))`,
      [worker_id, claim_seq, at + differenceMs, ids],
    );
  }
  // Before the commit: killed in between, neither can be started, and the next run goes on here.
  setPromotionMark(database, file, { to: locationOf(session), installation: await installationThere(session) });
  await client.query(`update "${schema}".meta set min_code = ${OLDEST_SHARED_CODE}`);
  await client.query(`drop table "${schema}".promotion`);
  await client.query('commit');
  await client.query(`analyze "${schema}".job, "${schema}".live, "${schema}".run, "${schema}".edge`);
}

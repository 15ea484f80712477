/**
 * Moves a stopped installation from a SQLite file to PostgreSQL. Each table is one transaction, so that a run that was killed
 * goes on with the next table. Until all tables are there and compared, the target is marked as needing newer code: no
 * Workron starts on a half of it. The file is only read.
 */

import pg from 'pg';
import { WorkronError } from '../../core/error.ts';
import { OLDEST_SHARED_CODE } from '../../store/code.ts';
import { connectionSettings } from '../../store/postgres/base/database.ts';
import { migrate } from '../../store/postgres/base/migrate.ts';
import { toStoreError } from '../../store/postgres/base/postgres-error.ts';
import { Database } from '../../store/sqlite/base/database.ts';
import { homeOf } from '../../store/sqlite/base/home.ts';
import { lockFile } from '../../store/sqlite/base/lock-file.ts';
import { installedVersion } from '../../store/sqlite/base/migrate.ts';
import { MIGRATIONS } from '../../store/sqlite/base/migrations.ts';
import { textOf } from './convert.ts';
import { copyIn, copyValue } from './copy-in.ts';
import { type MovedTable, movedTables, rowsOf } from './tables.ts';
import { sumOfSource, sumOfTarget } from './verify.ts';

/** No code has this number. */
const NOBODY = 2_147_483_647;

export interface PromoteOptions {
  file: string;
  url: string;
  schema: string;
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
    for (const table of tables) await copyTable(session, table, differenceMs);
    const rows = await compare(session, tables, differenceMs);
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
      tell(`${name}: ${database.get<{ count: number }>(`select count(*) as count from "${name}"`)?.count} rows`);
    }
  });
}

/** Drops the schema of a promotion that has not ended. */
export async function undo({ url, schema }: Pick<PromoteOptions, 'url' | 'schema'>): Promise<void> {
  await withClient(url, async (client) => {
    const { rows } = await client.query<{ there: boolean }>('select to_regclass($1) is not null as there', [
      `"${schema}".promotion`,
    ]);
    if (rows[0]?.there !== true) {
      throw new WorkronError('bad_request', `Schema ${schema} has no promotion that was begun and has not ended`);
    }
    await client.query(`drop schema "${schema}" cascade`);
  });
}

async function withBoth<T>(options: PromoteOptions, body: (session: Session) => Promise<T>): Promise<T> {
  const file = homeOf(options.file);
  using _owner = lockFile(file);
  using database = new Database(file, { readOnly: true });
  const [version, newest] = [installedVersion(database, file), MIGRATIONS.at(-1)?.version];
  if (version !== newest) {
    throw new WorkronError(
      'store_unavailable',
      `${file} is at version ${version} of its schema, not ${newest}; run \`workron migrate\``,
    );
  }
  return await withClient(options.url, (client) => body({ ...options, database, client }));
}

async function withClient<T>(url: string, body: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ ...connectionSettings, connectionString: url, query_timeout: 0 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query(`set timezone = 'UTC'`);
    return await body(client);
  } catch (error) {
    throw error instanceof pg.DatabaseError ? toStoreError(error) : error;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** The promotion of this file that was begun; `undefined` if there is none. Throws if the target is used for something else. */
async function promotionOf({ client, schema, database }: Session): Promise<Promotion | undefined> {
  const { rows: there } = await client.query<{ there: boolean }>('select to_regclass($1) is not null as there', [
    `"${schema}".promotion`,
  ]);
  if (there[0]?.there !== true) return undefined;
  const { rows } = await client.query<Promotion>(`select source, difference_ms from "${schema}".promotion limit 1`);
  const [begun] = rows;
  if (begun === undefined || begun.source === sourceOf(database)) return begun;
  throw new WorkronError('bad_request', `Schema ${schema} holds a part of another file; --undo drops it`);
}

async function existing({ client, schema }: Session): Promise<boolean> {
  const { rows } = await client.query<{ there: boolean }>('select to_regclass($1) is not null as there', [
    `"${schema}".job`,
  ]);
  if (rows[0]?.there !== true) return false;
  const { rows: jobs } = await client.query(
    `select 1 from "${schema}".job union all select 1 from "${schema}".worker union all select 1 from "${schema}".schedule limit 1`,
  );
  return jobs.length > 0;
}

function notEmpty(schema: string): WorkronError {
  return new WorkronError('bad_request', `Schema ${schema} is not empty; name another one by --db-schema`);
}

/** A number that SQLite files have at random. */
function sourceOf(database: Database): number {
  return database.get<{ lock_space: number }>('select lock_space from meta')?.lock_space ?? 0;
}

async function begin(session: Session): Promise<Promotion> {
  const { client, schema, database } = session;
  if (await existing(session)) throw notEmpty(schema);
  const promotion = { source: sourceOf(database), difference_ms: await clockDifference(session) };
  await client.query('begin');
  await client.query(
    `create table "${schema}".promotion (name text primary key, source integer, difference_ms bigint)`,
  );
  await client.query(`insert into "${schema}".promotion values ('', $1, $2)`, [
    promotion.source,
    promotion.difference_ms,
  ]);
  await client.query(`update "${schema}".meta set min_code = ${NOBODY}`);
  await client.query('commit');
  return promotion;
}

/** By the fastest of several answers: half of its time is the most that the difference can be wrong. */
async function clockDifference({ client }: Session): Promise<number> {
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

async function copyTable(session: Session, table: MovedTable, differenceMs: number): Promise<void> {
  const { client, schema, database, tell } = session;
  const { name, columns } = table;
  const { rows: done } = await client.query(`select 1 from "${schema}".promotion where name = $1`, [name]);
  if (done.length > 0) return tell(`${name}: moved before`);
  let rows = 0;
  function* lines(): Generator<string> {
    for (const row of rowsOf(database, table)) {
      rows += 1;
      yield `${columns.map((column, place) => copyValue(textOf(row[`c${place}`], column, differenceMs))).join('\t')}\n`;
    }
  }
  const names = columns.map((column) => `"${column.name}"`).join(', ');
  await client.query('begin');
  try {
    await copyIn(client, `copy "${schema}"."${name}" (${names}) from stdin`, lines());
    await client.query(`insert into "${schema}".promotion (name) values ($1)`, [name]);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    throw error;
  }
  tell(`${name}: ${rows} rows`);
}

async function compare(session: Session, tables: readonly MovedTable[], differenceMs: number): Promise<number> {
  const { client, schema, database, tell } = session;
  let rows = 0;
  for (const table of tables) {
    const [ours, theirs] = [sumOfSource(database, table, differenceMs), await sumOfTarget(client, schema, table)];
    if (ours.rows !== theirs.rows || ours.checksum !== theirs.checksum) {
      throw new WorkronError(
        'store_unavailable',
        `${table.name} differs: ${ours.rows} rows (${ours.checksum}) in the file, ${theirs.rows} (${theirs.checksum}) in PostgreSQL; was the file used meanwhile? --undo, then promote again`,
      );
    }
    rows += ours.rows;
  }
  tell(`compared: ${tables.length} tables, ${rows} rows`);
  return rows;
}

/** Continues ids above the highest ever given, writes the claims of running jobs, and opens the target for everybody. */
async function finish({ client, schema, database }: Session, differenceMs: number): Promise<void> {
  await client.query('begin');
  const { rows: sequences } = await client.query<{ name: string; table: string | null }>(
    `select s.relname as name, t.relname as "table" from pg_class s
       left join pg_depend d on d.objid = s.oid and d.classid = 'pg_class'::regclass and d.deptype = 'i'
       left join pg_class t on t.oid = d.refobjid
     where s.relnamespace = to_regnamespace($1) and s.relkind = 'S'`,
    [`"${schema}"`],
  );
  for (const { name, table } of sequences) {
    const given = database.get<{ seq: number }>(
      'select seq from sqlite_sequence where name = ?',
      table ?? name.replace(/_id$/, ''),
    );
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
  await client.query(`update "${schema}".meta set min_code = ${OLDEST_SHARED_CODE}`);
  await client.query(`drop table "${schema}".promotion`);
  await client.query('commit');
  await client.query(`analyze "${schema}".job, "${schema}".live, "${schema}".run, "${schema}".edge`);
}

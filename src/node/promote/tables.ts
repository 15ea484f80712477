/**
 * Which tables are moved, and how their columns become those of PostgreSQL. Tables and columns are those of the two schemas:
 * a new one is moved by its type, and one that only one of the two has must be named here.
 */

import type pg from 'pg';
import { FLAG } from '../../store/flags.ts';
import type { Database } from '../../store/sqlite/base/database.ts';

/** Tables that are not moved. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  meta: 'each store has its own',
  instance: 'processes that have ended',
  leader: 'instances take the duties again',
  waiter: 'processes that have ended',
  claim: 'written from the jobs that run',
};

/** Whether the rows of a table are part of the installation, and not only of its processes. */
export function isMoved(table: string): boolean {
  return !(table in LEFT_OUT);
}

/** What SQLite reads for a column that PostgreSQL has under another name or in another form. */
const READ_AS: Readonly<Record<string, string>> = {
  'live.listed_as': 'status',
  'live.claimed': `(status = 'running' and flags & ${FLAG.group} = 0)`,
  // Only PostgreSQL marks jobs that are never prefetched.
  'live.flags': `flags | iif((select j.spec ->> '$.rerun' = 'never' or j.spec ->> '$.max_attempts' = 1 from job j where j.id = job_id), ${FLAG.neverPrefetched}, 0)`,
  // SQLite stores a literal list once, as the source.
  'job_group.items': 'iif(total is null, null, coalesce(items, source))',
  // Claims look at all of them again.
  'parking.opens_at': '0',
  'idempotency.answer': `case when json_type(answer) = 'object' then answer
    else (select json_group_array(json_object('job_id', value ->> 0, 'deduplicated', json(iif(value ->> 1, 'true', 'false')))) from json_each(answer)) end`,
};

/** Columns of SQLite that PostgreSQL does not have. */
const NOT_THERE = new Set(['live.status', 'live.claim_seq', 'job_group.total']);

/** PostgreSQL stores nothing for zero in these. */
const NULL_FOR_ZERO = new Set(['failures', 'interruptions', 'snoozes', 'losses']);
const COUNTED = new Set(['live', 'run']);

/** Instants that a calendar gives, not a clock: ticks, and the minutes of statistics. */
const OF_CALENDAR = new Set([
  'tick.scheduled_for',
  'tick.through',
  'schedule.last_run',
  'schedule_line.cursor',
  'schedule_line.next_due',
  'stat.minute',
]);

export interface Column {
  name: string;
  /** The type in PostgreSQL. */
  type: string;
  /** What SQLite reads for it. */
  read: string;
  /** An instant that was read from a clock, and becomes one of the other clock. */
  isOfClock: boolean;
}

export interface MovedTable {
  name: string;
  columns: readonly Column[];
}

/** Returns the tables in a fixed order. Throws if the two schemas differ in a way that is not known here. */
export async function movedTables(database: Database, client: pg.Client, schema: string): Promise<MovedTable[]> {
  const ours = sqliteColumns(database);
  const theirs = await postgresColumns(client, schema);
  const names = [...new Set([...ours.keys(), ...theirs.keys()])].filter(isMoved).sort();
  return names.map((name) => {
    const [own, other] = [ours.get(name), theirs.get(name)];
    if (own === undefined || other === undefined) {
      throw new Error(`the table ${name} is only in ${own === undefined ? 'PostgreSQL' : 'SQLite'}`);
    }
    const unread = own.filter((column) => !other.has(column) && !NOT_THERE.has(`${name}.${column}`));
    if (unread.length > 0) throw new Error(`PostgreSQL has no column for ${name}.${unread.join(', ')}`);
    return { name, columns: [...other].map(([column, type]) => columnOf(name, column, { type, own })) };
  });
}

function columnOf(table: string, name: string, { type, own }: { type: string; own: readonly string[] }): Column {
  const special = READ_AS[`${table}.${name}`];
  const isOfClock = type === 'timestamp with time zone' && !OF_CALENDAR.has(`${table}.${name}`);
  if (special !== undefined) return { name, type, read: special, isOfClock };
  if (!own.includes(name)) throw new Error(`SQLite has no column for ${table}.${name}`);
  const zero = COUNTED.has(table) && NULL_FOR_ZERO.has(name);
  return { name, type, read: zero ? `nullif("${name}", 0)` : `"${name}"`, isOfClock };
}

export function sqliteColumns(database: Database): Map<string, string[]> {
  const rows = database.all<{ table: string; name: string }>(
    `select m.name as "table", c.name from sqlite_schema m, pragma_table_info(m.name) c
     where m.type = 'table' and m.name not like 'sqlite_%' order by m.name, c.cid`,
  );
  const columns = new Map<string, string[]>();
  for (const { table, name } of rows) columns.set(table, [...(columns.get(table) ?? []), name]);
  return columns;
}

export async function postgresColumns(client: pg.Client, schema: string): Promise<Map<string, Map<string, string>>> {
  const { rows } = await client.query<{ table: string; name: string; type: string }>(
    `select c.relname as "table", a.attname as name, format_type(a.atttypid, null) as type
     from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     where c.relnamespace = to_regnamespace($1) and c.relkind = 'r' and c.relname <> 'promotion'
     order by c.relname, a.attnum`,
    [`"${schema}"`],
  );
  const columns = new Map<string, Map<string, string>>();
  for (const { table, name, type } of rows) {
    columns.set(table, (columns.get(table) ?? new Map<string, string>()).set(name, type));
  }
  return columns;
}

/** The rows of a table, one after the other. */
export function rowsOf(database: Database, { name, columns }: MovedTable): Iterable<readonly unknown[]> {
  return database.eachTuple(`select ${columns.map(({ read }) => read).join(', ')} from "${name}"`);
}

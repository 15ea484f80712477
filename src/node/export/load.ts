/** Reads an export into an empty SQLite file, and compares its rows with those of the export. */

import { countText } from '../../api/count-text.ts';
import { messageOf, WorkronError } from '../../core/error.ts';
import type { Database } from '../../store/sqlite/base/database.ts';
import { migrate } from '../../store/sqlite/base/migrate.ts';
import { MIGRATIONS } from '../../store/sqlite/base/migrations.ts';
import { toStoreError } from '../../store/sqlite/base/store-error.ts';
import { Sum, type TableSum } from '../promote/sum.ts';
import { ADDED_TABLES, conversionOf } from './earlier-tables.ts';
import { decodeRow, encodeRow, FORMAT, FORMAT_VERSION, type Header, type SourceTable, type Value } from './format.ts';
import { readLines } from './read-lines.ts';
import { sourceOf } from './sqlite-source.ts';

interface Loaded {
  rows: number;
  schemaVersion: number;
}

export async function load(
  database: Database,
  input: AsyncIterable<Buffer>,
  tell: (line: string) => void,
): Promise<Loaded> {
  const loader = new Loader(database, tell);
  let number = 0;
  for await (const line of readLines(input)) {
    number += 1;
    try {
      loader.take(line);
    } catch (error) {
      const cause = toStoreError(error, 'the target');
      if (cause instanceof WorkronError) throw cause;
      throw new WorkronError('bad_request', `line ${number}: ${messageOf(error)}`, { cause: error });
    }
  }
  return loader.finish();
}

interface OpenTable extends SourceTable {
  insert: string;
  /** Of the rows that were read, and of those that were stored. */
  sum: Sum;
  stored: Sum;
  /** The number of values in a row of the export. */
  width: number;
  convert: (row: readonly Value[]) => readonly Value[] | undefined;
}

class Loader {
  readonly #database: Database;
  readonly #tell: (line: string) => void;
  readonly #known = new Map<string, SourceTable>();
  readonly #sums = new Map<string, TableSum>();
  #header: Header | undefined;
  #table: OpenTable | undefined;
  #rows = 0;
  #isComplete = false;

  constructor(database: Database, tell: (line: string) => void) {
    this.#database = database;
    this.#tell = tell;
  }

  take(line: string): void {
    if (this.#isComplete) throw new Error('something follows the end of the export');
    if (this.#header === undefined) return this.#begin(parsed(line, 'not an export of Workron'));
    if (this.#table !== undefined && line.startsWith('[')) return this.#insert(this.#table, line);
    const object = parsed(line, 'expected a row or the end of a table') as Record<string, unknown>;
    if (this.#table !== undefined) return this.#endTable(this.#table, object);
    if (typeof object?.['table'] === 'string') return this.#beginTable(object['table'], object['columns']);
    if (object?.['end'] === null) return this.#end(object);
    throw new Error('expected a table, or the end of the export');
  }

  finish(): Loaded {
    if (!this.#isComplete || this.#header === undefined) {
      throw new WorkronError('bad_request', 'the export is cut off: its last line is missing');
    }
    const source = sourceOf(this.#database, this.#header.schema_version);
    for (const table of source.tables) this.#compare(table, source.rows(table) as Iterable<never>);
    this.#tell(`compared: ${countText(source.tables.length, 'table')}, ${countText(this.#rows, 'row')}`);
    return { rows: this.#rows, schemaVersion: this.#header.schema_version };
  }

  #begin(header: unknown): void {
    const { format, format_version, schema_version, workron, installation, ids } = (header ?? {}) as Partial<Header>;
    if (format !== FORMAT) throw new Error('not an export of Workron');
    const newest = MIGRATIONS.at(-1)?.version ?? 0;
    if (format_version !== FORMAT_VERSION || !(Number(schema_version) <= newest)) {
      throw new Error(`the export is of a newer Workron (${workron}); install that version`);
    }
    if (!Number.isInteger(schema_version) || Number(schema_version) < 1 || !Number.isInteger(installation)) {
      throw new Error('the header is damaged');
    }
    this.#header = header as Header;
    const version = Number(schema_version);
    migrate(
      this.#database,
      0,
      MIGRATIONS.filter((migration) => migration.version <= version),
    );
    this.#database.run('update meta set lock_space = ?', Number(installation));
    for (const table of sourceOf(this.#database, version).tables) this.#known.set(table.name, table);
    this.#continueIds(ids ?? {});
    this.#database.script('begin');
  }

  /** New ids are above the highest that was ever given. */
  #continueIds(ids: Readonly<Record<string, unknown>>): void {
    for (const [table, id] of Object.entries(ids)) {
      if (!Number.isSafeInteger(id) || Number(id) < 0) throw new Error(`the id of ${table} is not a number`);
      if (this.#known.has(table))
        this.#database.run('insert into sqlite_sequence (name, seq) values (?, ?)', table, Number(id));
    }
  }

  #beginTable(name: string, columns: unknown): void {
    const known = this.#known.get(name);
    if (known === undefined || this.#sums.has(name)) throw new Error(`there is no table ${name}, or it comes twice`);
    const isCurrent = JSON.stringify(columns) === JSON.stringify(known.columns);
    const convert = isCurrent ? (row: readonly Value[]) => row : conversionOf(name, columns);
    if (convert === undefined) throw new Error(`expected the columns ${known.columns.join(', ')} of ${name}`);
    const names = known.columns.map((column) => `"${column}"`).join(', ');
    const insert = `insert into "${name}" (${names}) values (${known.columns.map(() => '?').join(', ')})`;
    const width = (columns as unknown[]).length;
    this.#table = { ...known, insert, sum: new Sum(), stored: new Sum(), width, convert };
  }

  #insert({ name, insert, sum, stored, width, convert }: OpenTable, line: string): void {
    const values = decodeRow(parsed(line, 'not a row'));
    if (values?.length !== width) throw new Error(`not a row of ${name}: expected ${width} values`);
    sum.add(encodeRow(values));
    this.#rows += 1;
    const row = convert(values);
    if (row === undefined) return;
    this.#database.run(insert, ...row);
    stored.add(encodeRow(row));
  }

  #endTable({ name, sum, stored }: OpenTable, { end, rows, checksum }: Record<string, unknown>): void {
    if (end !== name) throw new Error(`expected a row, or the end of ${name}`);
    if (sum.result.rows !== rows || sum.result.checksum !== checksum) {
      throw new Error(
        `${name} is damaged: ${countText(sum.result.rows, 'row')} (${sum.result.checksum}), expected ${String(rows)} (${String(checksum)})`,
      );
    }
    this.#sums.set(name, stored.result);
    this.#table = undefined;
    if (sum.result.rows > 0) this.#tell(`${name}: ${countText(sum.result.rows, 'row')}`);
  }

  #end({ tables, rows }: Record<string, unknown>): void {
    const isMissing = (name: string) => !this.#sums.has(name) && !ADDED_TABLES.includes(name);
    if (tables !== this.#sums.size || rows !== this.#rows || this.#known.keys().some(isMissing)) {
      throw new Error(
        `the export is damaged: ${countText(this.#sums.size, 'table')} with ${countText(this.#rows, 'row')}, expected ${String(rows)}`,
      );
    }
    this.#database.script('commit');
    this.#isComplete = true;
  }

  #compare(table: SourceTable, rows: Iterable<Parameters<typeof encodeRow>[0]>): void {
    const sum = new Sum();
    for (const row of rows) sum.add(encodeRow(row));
    const read = this.#sums.get(table.name) ?? new Sum().result;
    if (read.rows === sum.result.rows && read.checksum === sum.result.checksum) return;
    throw new WorkronError(
      'store_unavailable',
      `${table.name} differs from the export: ${countText(sum.result.rows, 'row')} (${sum.result.checksum}), expected ${read.rows} (${read.checksum})`,
    );
  }
}

function parsed(line: string, problem: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new Error(problem);
  }
}

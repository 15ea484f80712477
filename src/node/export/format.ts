/**
 * The form of an export: JSON lines. A header, then per table a line that names its columns, a line per row and a line with
 * number and checksum, and a last line. Rows have the values of the SQLite schema, from either store.
 */

export const FORMAT = 'workron-export';
export const FORMAT_VERSION = 1;

export interface Header {
  format: typeof FORMAT;
  format_version: number;
  /** The version of the schema that the rows have. */
  schema_version: number;
  workron: string;
  exported_at: string;
  /** Tells two installations apart. */
  installation: number;
  /** The highest id that was ever given, by table. */
  ids: Readonly<Record<string, number>>;
}

/** The first line of a table. */
export interface TableLine {
  table: string;
  columns: readonly string[];
}

/** The line after the rows of a table. */
export interface TableEnd {
  end: string;
  rows: number;
  checksum: string;
}

/** The last line. */
export interface ExportEnd {
  end: null;
  tables: number;
  rows: number;
}

export type Value = string | number | null | Uint8Array;

export interface SourceTable {
  name: string;
  columns: readonly string[];
}

/** One state of a store, read table by table. */
export interface ExportSource {
  schemaVersion: number;
  installation: number;
  ids: Readonly<Record<string, number>>;
  tables: readonly SourceTable[];
  rows(table: SourceTable): AsyncIterable<readonly Value[]> | Iterable<readonly Value[]>;
}

export function encodeRow(values: readonly Value[]): string {
  return `[${values.map(encodeValue).join(',')}]`;
}

function encodeValue(value: Value): string {
  if (!(value instanceof Uint8Array)) return JSON.stringify(value);
  const { buffer, byteOffset, byteLength } = value;
  return `{"base64":"${Buffer.from(buffer, byteOffset, byteLength).toString('base64')}"}`;
}

/** Returns `undefined` if it is not a row. */
export function decodeRow(parsed: unknown): Value[] | undefined {
  if (!Array.isArray(parsed)) return undefined;
  const values = parsed.map(decodeValue);
  return values.includes(undefined) ? undefined : (values as Value[]);
}

function decodeValue(value: unknown): Value | undefined {
  if (value === null || typeof value === 'string' || typeof value === 'number') return value;
  if (typeof value !== 'object') return undefined;
  const { base64 } = value as { base64?: unknown };
  return typeof base64 === 'string' ? Buffer.from(base64, 'base64') : undefined;
}

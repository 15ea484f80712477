/**
 * Maps rows to objects: `created_at` is `createdAt`, by rule. A column's kind says how the databases store it: SQLite has JSON as
 * text, booleans as 0 and 1, and instants as milliseconds since 1970.
 */

import { at, Fragment, join, type Parameter, type Part, raw, type Spelling, spelled, sql } from './sql.ts';

export type Kind = 'text' | 'int' | 'bigint' | 'real' | 'bool' | 'json' | 'instant' | 'bytes';

type Kinds<T> = Readonly<Record<keyof T & string, Kind>>;
type Row = Record<string, unknown>;
/** Values of columns: plain ones, or SQL such as `now`. */
type Values<T> = { readonly [K in keyof T]?: T[K] | Fragment | Spelling | undefined };

export class Columns<T> extends Fragment {
  readonly #kinds: readonly (readonly [property: string, column: string, kind: Kind])[];

  constructor(kinds: readonly (readonly [property: string, column: string, kind: Kind])[]) {
    super([kinds.map(([, column]) => column).join(', ')]);
    this.#kinds = kinds;
  }

  /** These columns and others. */
  with<Wider extends T>(others: Kinds<Omit<Wider, keyof T>>): Columns<Wider> {
    return new Columns<Wider>([...this.#kinds, ...named(others)]);
  }

  /** The list of columns of a table that has another name in the statement. */
  of(alias: string): Fragment {
    return raw(this.#kinds.map(([, column]) => `${alias}.${column}`).join(', '));
  }

  /** Reads a row of SQLite. */
  fromSqlite(row: Row): T {
    const decoded = this.#kinds.map(([property, column, kind]) => [property, decodeSqlite(row[column], kind)]);
    return Object.fromEntries(decoded) as T;
  }

  /** Reads a row of PostgreSQL. Its driver has decoded the values by their types. */
  fromPostgres(row: Row): T {
    return Object.fromEntries(this.#kinds.map(([property, column]) => [property, row[column]])) as T;
  }

  /** `(a, b) values (…)`, for an insert of the properties that are given. */
  values(values: Values<T>): Fragment {
    const given = this.#given(values);
    return sql`(${raw(given.map(({ column }) => column).join(', '))}) values (${list(given)})`;
  }

  /** `a = …, b = …`, for an update of the properties that are given. */
  set(values: Values<T>): Fragment {
    return list(this.#given(values).map(({ column, value }) => ({ value: sql`${raw(column)} = ${value}` })));
  }

  /** `(a, b) select …`, for an insert of many objects in their order, with values that they share. */
  rows<P extends keyof T & string>(
    objects: readonly Readonly<Pick<T, P>>[],
    shared: Values<Omit<T, P>> = {},
  ): Fragment {
    const common = this.#given(shared as Values<T>);
    const { own, from } = this.#elements(objects);
    const names = raw([...own.map(([, column]) => column), ...common.map(({ column }) => column)].join(', '));
    const values = list([...own.map(([, , kind], place) => ({ value: element(kind, place) })), ...common]);
    return sql`(${names}) select ${values} from ${from} order by place`;
  }

  /** A table of the objects' properties, to join with. */
  input<P extends keyof T & string>(objects: readonly Readonly<Pick<T, P>>[]): Fragment {
    const { own, from } = this.#elements(objects);
    const named = own.map(([, column, kind], place) => ({ value: sql`${element(kind, place)} as ${raw(column)}` }));
    return sql`(select ${list(named)} from ${from})`;
  }

  #elements(objects: readonly object[]) {
    const own = this.#kinds.filter(([property]) => objects.some((object) => (object as Row)[property] !== undefined));
    const tuples = objects.map((object) => own.map(([property]) => (object as Row)[property] ?? null));
    return { own, from: elements(JSON.stringify(tuples)) };
  }

  #given(values: Values<T>): { column: string; value: Part }[] {
    return this.#kinds.flatMap(([property, column, kind]) => {
      const value = (values as Row)[property];
      return value === undefined ? [] : [{ column, value: encode(value, kind) }];
    });
  }
}

export function columns<T>(kinds: Kinds<T>): Columns<T> {
  return new Columns<T>(named(kinds));
}

function named(kinds: Readonly<Record<string, Kind>>) {
  return Object.entries(kinds).map(([property, kind]) => [property, snakeCase(property), kind] as const);
}

function list(parts: readonly { value: Part }[]): Fragment {
  const { texts } = join(
    parts.map(({ value }) => value),
    ', ',
  );
  return new Fragment(
    texts,
    parts.map(({ value }) => value),
  );
}

function encode(value: unknown, kind: Kind): Part {
  if (value instanceof Fragment || typeof value === 'function') return value as Fragment | Spelling;
  if (kind === 'instant') return at(value as number | null);
  if (kind === 'json') return value === null ? null : JSON.stringify(value);
  if (kind === 'bytes') return bytes(value as Uint8Array);
  return value as Parameter;
}

/** Node 22 and 24 bind an array without bytes that comes from another thread as null. */
function bytes(value: Uint8Array): Spelling {
  return spelled({ sqlite: sql`coalesce(${value}, x'')`, postgres: sql`${value}` });
}

function decodeSqlite(value: unknown, kind: Kind): unknown {
  if (value === null) return null;
  if (kind === 'json') return JSON.parse(value as string) as unknown;
  return kind === 'bool' ? value === 1 : value;
}

const POSTGRES_TYPES: Readonly<Partial<Record<Kind, string>>> = { int: 'integer', real: 'float8', bool: 'boolean' };

/** The elements of a JSON array as rows `i`, with their `place`. */
function elements(array: string): Spelling {
  return (dialect) =>
    dialect === 'postgres'
      ? sql`jsonb_array_elements(${array}::jsonb) with ordinality i(value, place)`
      : sql`(select value, key as place from json_each(${array})) i`;
}

/** A value of the tuple in row `i`. */
function element(kind: Kind, place: number): Spelling {
  return (dialect) => {
    if (kind === 'json') return raw(`nullif(i.value -> ${place}, 'null')`);
    const text = `i.value ->> ${place}`;
    if (dialect === 'sqlite') return raw(text);
    if (kind === 'instant') return raw(`to_timestamp((${text})::float8 / 1000.0)`);
    return raw(`(${text})::${POSTGRES_TYPES[kind] ?? kind}`);
  };
}

function snakeCase(property: string): string {
  return property.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

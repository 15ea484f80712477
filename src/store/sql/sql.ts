/**
 * Statements that both databases share. `sql` is a tagged template: a value in it becomes a parameter, a fragment is inserted as it
 * is, and the few things that the databases spell differently are functions of the dialect. Tables are named without their schema.
 */

import { TABLES } from './tables.ts';

export type Dialect = 'sqlite' | 'postgres';

/** A value that is sent beside the text of a statement. */
export type Parameter = string | number | boolean | null | Uint8Array | readonly (string | number | null)[];

/** A part that the databases spell differently. */
export type Spelling = (dialect: Dialect) => Fragment;

/** What a template may contain. */
export type Part = Parameter | Fragment | Spelling;

export class Fragment {
  readonly texts: readonly string[];
  readonly parts: readonly Part[];
  /** True if the text depends on what was asked for, so that it is not worth preparing. */
  readonly varies: boolean;

  constructor(texts: readonly string[], parts: readonly Part[] = [], varies = false) {
    this.texts = texts;
    this.parts = parts;
    this.varies = varies;
  }
}

export function sql(texts: TemplateStringsArray, ...parts: readonly Part[]): Fragment {
  return new Fragment(texts, parts);
}

export function spelled(spellings: Readonly<Record<Dialect, Fragment>>): Spelling {
  return (dialect) => spellings[dialect];
}

/** Text of the program itself, such as the name of a column. */
export function raw(text: string): Fragment {
  return new Fragment([text]);
}

const NOW = raw('');
const NOTHING = raw('');
const CLOCK = raw('(select now from clock)');

/** The store's time, the same wherever it stands in a statement. */
export const now: Spelling = () => NOW;

/** The instant this many milliseconds after another. */
export function after(instant: Part, ms: number | Fragment): Spelling {
  return (dialect) =>
    dialect === 'postgres' ? sql`${instant} + (${ms})::float8 * interval '1 millisecond'` : sql`${instant} + (${ms})`;
}

/** An instant that is known in milliseconds since 1970. */
export function at(ms: number | null): Spelling {
  return (dialect) => (dialect === 'postgres' ? sql`to_timestamp(${ms}::float8 / 1000.0)` : sql`${ms}`);
}

/** Behind a column: whether it has one of these values. The text does not depend on their number. */
export function anyOf(values: readonly number[] | readonly string[], type: 'bigint' | 'text' = 'bigint'): Spelling {
  return (dialect) =>
    dialect === 'postgres'
      ? sql`= any(${values}::${raw(type)}[])`
      : sql`in (select value from json_each(${JSON.stringify(values)}))`;
}

/**
 * Behind a join of a table with few rows of input: PostgreSQL looks the table's rows up by these ids. SQLite does so anyway, and would
 * read the input once for each of them.
 */
export function alsoAnyOf(column: string, ids: readonly number[]): Spelling {
  return (dialect) => (dialect === 'postgres' ? sql`and ${raw(column)} = any(${ids}::bigint[])` : NOTHING);
}

/** A table `i` of values, to join with: its column is `value`. */
export function eachOf(values: readonly number[] | readonly string[], type: 'bigint' | 'text' = 'bigint'): Spelling {
  return (dialect) =>
    dialect === 'postgres'
      ? sql`unnest(${values}::${raw(type)}[]) i(value)`
      : sql`json_each(${JSON.stringify(values)}) i`;
}

/** Behind a column: whether it has one of the values that a query finds, which is run once, before. */
export function anyFrom(query: Fragment): Spelling {
  return (dialect) => (dialect === 'postgres' ? sql`= any(array(${query}))` : sql`in (${query})`);
}

/** The milliseconds since 1970 of an instant, for lists of them. */
export function msOf(instant: string): Spelling {
  return (dialect) => raw(dialect === 'postgres' ? `round(date_part('epoch', ${instant}) * 1000)` : instant);
}

/** The numbers or texts that a query finds as `value`, in its order, for a column of the kind `json`. */
export function listOf(query: Fragment): Spelling {
  return (dialect) =>
    dialect === 'postgres' ? sql`array(${query})` : sql`(select json_group_array(n.value) from (${query}) n)`;
}

/** True if the text of a column contains another text. */
export function contains(column: string, part: string): Spelling {
  return (dialect) => sql`${raw(dialect === 'postgres' ? 'strpos' : 'instr')}(${raw(column)}, ${part}) > 0`;
}

/** What PostgreSQL needs because its writers run side by side, such as `for update`. SQLite has one writer. */
export function locking(text: string): Spelling {
  return (dialect) => (dialect === 'postgres' ? raw(text) : NOTHING);
}

export function join(parts: readonly Part[], separator: string): Fragment {
  return new Fragment(['', ...parts.slice(1).map(() => separator), ''], parts, true);
}

/** One statement of PostgreSQL for several that do not see each other. It returns the store's time and, if asked, how many rows the first wrote. */
export function together(statements: readonly Fragment[], counted: boolean): Fragment {
  const names = statements.slice(1).map((_, index) => `), part${index + 2} as (`);
  const count = counted ? '(select count(*) from part1)' : '0';
  return new Fragment(['with part1 as (', ...names, ') select ', ` as now, ${count} as count`], [...statements, now]);
}

/** One statement of PostgreSQL for several that use the rows that match as the table `held`, of which it returns some columns. */
export function withHeld(matching: Fragment, writes: readonly Fragment[], answer: Fragment): Fragment {
  const names = writes.map((_, index) => `), part${index + 1} as (`);
  return new Fragment(
    ['with held as materialized (', ...names, ') select ', ' from held'],
    [matching, ...writes, answer],
  );
}

/** True if all conditions are. Those that are `undefined` were not asked for. */
export function allOf(conditions: readonly (Fragment | undefined)[]): Fragment {
  const asked = conditions.filter((condition) => condition !== undefined);
  return asked.length === 0 ? sql`true` : join(asked, ' and ');
}

/** A statement as one database takes it. */
export interface Rendered {
  text: string;
  values: Parameter[];
  varies: boolean;
}

const TABLE = new RegExp(`\\b(from|join|into|update|using|table) (${TABLES.join('|')})\\b`, 'g');

const SEQUENCE = /\bnextval\('(\w+)'\)/g;

/** Writes statements for SQLite, with `instant` as the current time. */
export function renderSqlite(statement: Fragment, instant: number): Rendered {
  return render(statement, {
    dialect: 'sqlite',
    textsOf: (texts) => texts,
    parameter: () => '?',
    now: sql`${instant}`,
  });
}

/** Returns what writes statements for the tables of a schema, whose name is quoted. */
export function postgresRenderer(schema: string): (statement: Fragment) => Rendered {
  const named = new WeakMap<readonly string[], readonly string[]>();
  const target: Target = {
    dialect: 'postgres',
    textsOf(texts) {
      const known =
        named.get(texts) ??
        texts.map((text) => text.replace(TABLE, `$1 ${schema}.$2`).replace(SEQUENCE, `nextval('${schema}.$1')`));
      named.set(texts, known);
      return known;
    },
    parameter: (position) => `$${position}`,
    now: CLOCK,
  };
  // Read once, at the start of a statement.
  const clock = `with clock as materialized (select ${schema}.now() as now)`;
  return (statement) => {
    const rendered = render(statement, target);
    if (!rendered.text.includes(CLOCK.texts[0] as string)) return rendered;
    const own = /^\s*with\s/.exec(rendered.text)?.[0];
    const text = own === undefined ? `${clock} ${rendered.text}` : `${clock}, ${rendered.text.slice(own.length)}`;
    return { ...rendered, text };
  };
}

/** An array, which may be long, is sent once. */
function placeOf(value: Parameter, values: Parameter[]): number {
  return (Array.isArray(value) ? values.indexOf(value) + 1 : 0) || values.push(value);
}

interface Target {
  dialect: Dialect;
  /** The texts of a template with the full names of the tables. */
  textsOf(texts: readonly string[]): readonly string[];
  parameter(position: number): string;
  now: Fragment;
}

function render(statement: Fragment, target: Target): Rendered {
  const values: Parameter[] = [];
  let text = '';
  let varies = false;
  const append = (fragment: Fragment) => {
    const texts = target.textsOf(fragment.texts);
    varies ||= fragment.varies;
    text += texts[0];
    fragment.parts.forEach((part, index) => {
      const spelled = typeof part === 'function' ? part(target.dialect) : part;
      if (spelled instanceof Fragment) append(spelled === NOW ? target.now : spelled);
      else text += target.parameter(placeOf(spelled, values));
      text += texts[index + 1];
    });
  };
  append(statement);
  return { text, values, varies };
}

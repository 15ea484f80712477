/**
 * Tables with aligned columns. On a terminal that is too narrow, columns that say the same in every row are left out first,
 * then spare ones. Then flexible columns are cut, those that identify the row last.
 */

import module from 'node:module';
import { didYouMean } from '../../core/suggest.ts';
import { dataText, type Output, print, terminalWidth } from '../client-command.ts';
import { usageError } from '../errors/cli-error.ts';
import { note } from '../errors/report.ts';
import { dim, styled } from './style.ts';

export interface Column<Row> {
  title: string;
  text(row: Row): string;
  /** Applied after widths are known. */
  format?(row: Row): Parameters<typeof styled>[0];
  align?: 'right';
  /** May be cut on a terminal. */
  flexible?: boolean;
  /** A flexible column counts as this wide when it is decided which columns are left out. */
  readable?: number;
  /** Tells the rows apart: never left out, and cut last. */
  identifies?: boolean;
  /** Left out on a terminal that is too narrow for it. */
  spare?: boolean;
  /** Printed only if it is asked for, by `-o wide` or `--columns`. */
  wide?: boolean;
}

const GAP = '  ';
/** Widths below which columns are not cut: first these, then the narrowest. */
const COMFORTABLE = { other: 16, identifying: 24 };
const NARROWEST = 8;
const READABLE = 20;

export function renderTable<Row>(given: readonly Column<Row>[], rows: readonly Row[], width?: number): string {
  let all = given.map((column) => sizedColumn(column, rows));
  if (width !== undefined) {
    all = withoutSpare(withoutConstants(all, width), width);
    shrink(all, width);
    all = all.slice(0, cut(all, width));
  }
  const titles = all.map(({ column, size }) => pad(truncate(column.title, size), size, column.align));
  const lines = [dim(titles.join(GAP).trimEnd())];
  rows.forEach((row, rowIndex) => {
    const parts = all.map(({ column, cells, size }, index) => {
      const padded = pad(truncate(cells[rowIndex] as string, size), size, column.align);
      const format = column.format?.(row);
      const shown = index === all.length - 1 ? padded.trimEnd() : padded;
      return format === undefined ? shown : styled(format, shown);
    });
    lines.push(parts.join(GAP).trimEnd());
  });
  return `${lines.join('\n')}\n`;
}

/** Cuts to a display width, with an ellipsis. */
export function truncate(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let cut = '';
  let used = 0;
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    const next = used + displayWidth(segment);
    if (next > width - 1) break;
    cut += segment;
    used = next;
  }
  return `${cut}…`;
}

interface SizedColumn<Row> {
  column: Column<Row>;
  cells: readonly string[];
  size: number;
}

function sizedColumn<Row>(column: Column<Row>, rows: readonly Row[]): SizedColumn<Row> {
  const cells = rows.map((row) => column.text(row));
  return { column, cells, size: Math.max(displayWidth(column.title), ...cells.map(displayWidth)) };
}

/** Leaves out columns that are empty or the same in all rows, as long as the table is too wide. */
function withoutConstants<Row>(all: readonly SizedColumn<Row>[], width: number): SizedColumn<Row>[] {
  let left = [...all];
  for (const constant of [isEmpty, isSame]) {
    for (const each of all.toReversed()) {
      if (neededBy(left) <= width) return left;
      if (!each.column.identifies && constant(each.cells)) left = left.filter((other) => other !== each);
    }
  }
  return left;
}

/** Leaves out spare columns, from the last one on, as long as the table is too wide. */
function withoutSpare<Row>(all: readonly SizedColumn<Row>[], width: number): SizedColumn<Row>[] {
  let left = [...all];
  for (const each of all.toReversed()) {
    if (neededBy(left) <= width) return left;
    if (each.column.spare === true) left = left.filter((other) => other !== each);
  }
  return left;
}

/** The width of a table that can be read without effort. */
function neededBy<Row>(columns: readonly SizedColumn<Row>[]): number {
  return totalOf(
    columns.map(({ column, size }) =>
      column.flexible && !column.identifies ? Math.min(size, column.readable ?? READABLE) : size,
    ),
  );
}

function isEmpty(cells: readonly string[]): boolean {
  return cells.every((cell) => cell === '' || cell === '–');
}

function isSame(cells: readonly string[]): boolean {
  return cells.length > 1 && cells.every((cell) => cell === cells[0]);
}

function shrink<Row>(columns: readonly SizedColumn<Row>[], width: number): void {
  const { other, identifying } = COMFORTABLE;
  for (const [least, leastIdentifying] of [
    [other, identifying],
    [NARROWEST, identifying],
    [NARROWEST, NARROWEST],
  ] as const) {
    for (;;) {
      if (totalOf(columns.map(({ size }) => size)) <= width) return;
      const wider = columns.filter(
        ({ column, size }) => column.flexible && size > (column.identifies ? leastIdentifying : least),
      );
      if (wider.length === 0) break;
      const widest = wider.reduce((most, each) => (each.size > most.size ? each : most));
      widest.size -= 1;
    }
  }
}

function totalOf(sizes: readonly number[]): number {
  return sizes.reduce((sum, each) => sum + each, 0) + GAP.length * (sizes.length - 1);
}

/** Cuts the column that reaches beyond `width`. Returns the number of columns that are left. */
function cut<Row>(columns: readonly SizedColumn<Row>[], width: number): number {
  let used = 0;
  for (const [index, each] of columns.entries()) {
    const room = width - used;
    if (room <= 0) return index;
    used += each.size + GAP.length;
    each.size = Math.min(each.size, room);
  }
  return columns.length;
}

function pad(text: string, width: number, align: 'right' | undefined): string {
  const fill = ' '.repeat(Math.max(0, width - displayWidth(text)));
  return align === 'right' ? fill + text : text + fill;
}

/** The characters of most texts, including our own icons. Each takes one column. */
const NARROW = /^[\x20-\x7e–…✓✗●○◌◷⊘↷▓░]*$/;

let measure: ((text: string) => number) | undefined;

export function displayWidth(text: string): number {
  if (NARROW.test(text)) return text.length;
  // Loaded on demand: its tables of emoji take longer to compile than most commands run.
  measure ??= (module.createRequire(import.meta.url)('string-width') as { default: (text: string) => number }).default;
  return measure(text);
}

const MAX_PAGE_SIZE = 200;

interface Listing<Row> {
  columns: readonly Column<Row>[];
  /** What `-q` prints of a row. */
  id(row: Row): string;
  /** Printed instead of an empty table. */
  none: string;
}

interface Page<Row> {
  items: readonly Row[];
  next_cursor: string | null;
}

/** The first `limit` rows, from as many pages as needed, and whether there are more. */
export async function listUpTo<Row>(
  limit: number,
  read: (page: { limit: number; cursor: string | undefined }) => Promise<Page<Row>>,
): Promise<{ rows: Row[]; more: boolean }> {
  const rows: Row[] = [];
  let cursor: string | undefined;
  for (;;) {
    const page = await read({ limit: Math.min(MAX_PAGE_SIZE, limit - rows.length), cursor });
    rows.push(...page.items);
    if (page.next_cursor === null || rows.length >= limit) return { rows, more: page.next_cursor !== null };
    cursor = page.next_cursor;
  }
}

/** Prints rows, and says if there are more of them. */
export function printList<Row>(rows: readonly Row[], listing: Listing<Row>, output: Output, more = false): void {
  print(listText(rows, listing, output));
  if (more && !output.json && !output.quiet) note(`showing ${rows.length}; use --limit to see more`);
}

export function listText<Row>(rows: readonly Row[], listing: Listing<Row>, output: Output): string {
  if (output.json) return dataText(rows, output.json);
  if (output.quiet) return rows.map((row) => `${listing.id(row)}\n`).join('');
  const columns = chosenColumns(listing.columns, output);
  return rows.length === 0 ? `${listing.none}\n` : renderTable(columns, rows, terminalWidth());
}

/** Throws a usage error for a column that does not exist. */
function chosenColumns<Row>(all: readonly Column<Row>[], { columns, wide }: Output): readonly Column<Row>[] {
  if (columns === null) return wide ? all : all.filter((column) => column.wide !== true);
  return columns.map((name) => {
    const known = all.map(nameOf);
    const found = all[known.indexOf(name.toLowerCase())] ?? (name === 'name' ? all.findLast(isName) : undefined);
    if (found !== undefined) return found;
    throw usageError(
      `--columns: there is no column "${name}"; expected ${known.join(', ')}`,
      didYouMean(name.toLowerCase(), known),
    );
  });
}

/** `name` chooses the column of names, whatever its title. */
function isName({ identifies }: Pick<Column<never>, 'identifies'>): boolean {
  return identifies === true;
}

/** `LAST RUN` is chosen by `last-run`. */
function nameOf({ title }: Pick<Column<never>, 'title'>): string {
  return title.toLowerCase().replaceAll(' ', '-');
}

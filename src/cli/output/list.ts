/** A list as the user asked for it: a table, some of its columns, ids only, or the objects of the API. */

import { didYouMean } from '../../core/suggest.ts';
import { dataText, type Output, terminalWidth } from '../client-command.ts';
import { usageError } from '../errors/cli-error.ts';
import { type Column, renderTable } from './table.ts';

interface Listing<Row> {
  columns: readonly Column<Row>[];
  /** What `-q` prints of a row. */
  id(row: Row): string;
  /** Printed instead of an empty table. */
  none: string;
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
    const found = all[known.indexOf(name.toLowerCase())];
    if (found !== undefined) return found;
    throw usageError(
      `--columns: there is no column "${name}"; expected ${known.join(', ')}`,
      didYouMean(name.toLowerCase(), known),
    );
  });
}

/** `LAST RUN` is chosen by `last-run`. */
function nameOf({ title }: Pick<Column<never>, 'title'>): string {
  return title.toLowerCase().replaceAll(' ', '-');
}

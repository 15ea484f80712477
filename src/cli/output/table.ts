/** Tables with aligned columns. On a terminal the widest flexible columns are cut until a row fits, then the rightmost ones. */

import { displayWidth } from './display-width.ts';
import { dim, styled } from './style.ts';

export interface Column<Row> {
  title: string;
  text(row: Row): string;
  /** Applied after widths are known. */
  format?(row: Row): Parameters<typeof styled>[0];
  align?: 'right';
  /** May be cut on a terminal. */
  flexible?: boolean;
}

const GAP = '  ';
const NARROWEST = 8;

export function renderTable<Row>(all: readonly Column<Row>[], rows: readonly Row[], width?: number): string {
  const cells = rows.map((row) => all.map((column) => column.text(row)));
  const widths = all.map((column, index) =>
    Math.max(displayWidth(column.title), ...cells.map((row) => displayWidth(row[index] as string))),
  );
  if (width !== undefined) shrink(all, widths, width);
  const columns = width === undefined ? all : all.slice(0, cut(widths, width));
  const titles = columns.map((column, index) => {
    const columnWidth = widths[index] as number;
    return pad(truncate(column.title, columnWidth), columnWidth, column.align);
  });
  const lines = [dim(titles.join(GAP).trimEnd())];
  rows.forEach((row, rowIndex) => {
    const parts = columns.map((column, index) => {
      const text = truncate((cells[rowIndex] as string[])[index] as string, widths[index] as number);
      const padded = pad(text, widths[index] as number, column.align);
      const last = index === columns.length - 1;
      const format = column.format?.(row);
      const shown = last ? padded.trimEnd() : padded;
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

function shrink<Row>(columns: readonly Column<Row>[], widths: number[], width: number): void {
  const total = (): number => widths.reduce((sum, each) => sum + each, 0) + GAP.length * (widths.length - 1);
  for (;;) {
    const over = total() - width;
    if (over <= 0) return;
    let widest = -1;
    columns.forEach((column, index) => {
      if (column.flexible && (widths[index] as number) > NARROWEST) {
        if (widest < 0 || (widths[index] as number) > (widths[widest] as number)) widest = index;
      }
    });
    if (widest < 0) return;
    widths[widest] = (widths[widest] as number) - 1;
  }
}

/** Cuts the column that reaches beyond `width`. Returns the number of columns that are left. */
function cut(widths: number[], width: number): number {
  let used = 0;
  for (const [index, each] of widths.entries()) {
    const room = width - used;
    if (room <= 0) return index;
    widths[index] = Math.min(each, room);
    used += each + GAP.length;
  }
  return widths.length;
}

function pad(text: string, width: number, align: 'right' | undefined): string {
  const fill = ' '.repeat(Math.max(0, width - displayWidth(text)));
  return align === 'right' ? fill + text : text + fill;
}

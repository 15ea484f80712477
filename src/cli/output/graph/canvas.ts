/** A canvas of characters. Lines of the same net join where they meet; lines of different nets cross. */

import { displayWidth } from '../table.ts';

const NORTH = 1;
const EAST = 2;
const SOUTH = 4;
const WEST = 8;

/** Characters by the sum of the directions in which lines leave the cell. */
const BOX_LINES = [' ', '│', '─', '└', '│', '│', '┌', '├', '─', '┘', '─', '┴', '┐', '┤', '┬', '┼'];
const ASCII_LINES = [' ', '|', '-', '+', '|', '|', '+', '+', '-', '+', '-', '+', '+', '+', '+', '+'];

interface Cell {
  text?: string;
  vertical: number;
  verticalOf: unknown;
  horizontal: number;
  horizontalOf: unknown;
}

export class Canvas {
  readonly #rows: Cell[][] = [];
  readonly #ascii: boolean;

  constructor(ascii: boolean) {
    this.#ascii = ascii;
  }

  /** Draws a line from cell to cell. Lines with the same `net` belong together. */
  vertical(column: number, from: number, to: number, net: unknown): void {
    for (let row = from; row <= to; row += 1) {
      const cell = this.#cell(row, column);
      cell.vertical |= (row > from ? NORTH : 0) | (row < to ? SOUTH : 0);
      cell.verticalOf = net;
    }
  }

  horizontal(row: number, from: number, to: number, net: unknown): void {
    for (let column = from; column <= to; column += 1) {
      const cell = this.#cell(row, column);
      cell.horizontal |= (column > from ? WEST : 0) | (column < to ? EAST : 0);
      cell.horizontalOf = net;
    }
  }

  /** Writes over existing cells. A wide character takes two. */
  text(row: number, column: number, text: string): void {
    let at = column;
    for (const { segment } of new Intl.Segmenter().segment(text)) {
      const width = displayWidth(segment);
      if (width === 0) continue;
      this.#cell(row, at).text = segment;
      if (width === 2) this.#cell(row, at + 1).text = '';
      at += width;
    }
  }

  arrow(row: number, column: number): void {
    this.text(row, column, this.#ascii ? 'v' : '▼');
  }

  toString(): string {
    const rows = Array.from(this.#rows, (row) =>
      Array.from(row ?? [], (cell) => this.#glyph(cell))
        .join('')
        .trimEnd(),
    );
    return `${rows.join('\n')}\n`;
  }

  #cell(row: number, column: number): Cell {
    const cells = (this.#rows[row] ??= []);
    return (cells[column] ??= { vertical: 0, verticalOf: undefined, horizontal: 0, horizontalOf: undefined });
  }

  #glyph(cell: Cell | undefined): string {
    if (cell === undefined) return ' ';
    if (cell.text !== undefined) return cell.text;
    const crossing = cell.vertical !== 0 && cell.horizontal !== 0 && cell.verticalOf !== cell.horizontalOf;
    const directions = crossing ? cell.vertical : cell.vertical | cell.horizontal;
    return (this.#ascii ? ASCII_LINES : BOX_LINES)[directions] as string;
  }
}

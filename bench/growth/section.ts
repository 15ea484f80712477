/** One question about growth, answered with a table for docs/performance.md. */

import type { Grounds } from './grounds.ts';

export interface Section {
  /** The name for `--only`. */
  name: string;
  title: string;
  /** Prints each row at once, so that an interrupted run shows its results. */
  run: (grounds: Grounds) => Promise<void>;
}

export function printHead(columns: readonly string[]): void {
  printRow(columns);
  printRow(columns.map(() => '---'));
}

export function printRow(cells: readonly string[]): void {
  console.log(`| ${cells.join(' | ')} |`);
}

export function whole(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

export function verdict(value: number, max: number, unit = ''): string {
  return `≤ ${max.toLocaleString('en-US')}${unit} ${value <= max ? 'met' : '**not met**'}`;
}

/** One question about growth, answered with a table for docs/performance.md. */

import type { Grounds } from './grounds.ts';

export interface Section {
  /** For `--only`. */
  name: string;
  title: string;
  /** Prints as it goes, so that a run cut short still shows what it has. */
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

export function verdict(value: number, most: number, unit = ''): string {
  return `≤ ${most.toLocaleString('en-US')}${unit} ${value <= most ? 'met' : '**not met**'}`;
}

/** The progress of a job, as it reports it. */

import { oneLine } from './style.ts';

const CELLS = 8;

interface Reported {
  fraction: number;
  text: string | null;
}

/** `▓▓▓░░░░░ 37% step 22 of 60`; in a pipe without the bar. */
export function progressText({ fraction, text }: Reported): string {
  const full = Math.round(fraction * CELLS);
  const bar = process.stdout.isTTY ? `${'▓'.repeat(full)}${'░'.repeat(CELLS - full)} ` : '';
  const words = text === null ? '' : oneLine(text);
  return `${bar}${Math.floor(fraction * 100)}%${words === '' ? '' : ` ${words}`}`;
}

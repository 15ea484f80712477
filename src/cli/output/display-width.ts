/** The number of terminal columns that a text takes. */

import { createRequire } from 'node:module';

/** The characters of most texts, including our own icons. Each takes one column. */
const NARROW = /^[\x20-\x7e–…✓✗●○◌◷⊘↷]*$/;

const require = createRequire(import.meta.url);
let measure: ((text: string) => number) | undefined;

export function displayWidth(text: string): number {
  if (NARROW.test(text)) return text.length;
  // Loaded on demand: its tables of emoji take longer to compile than most commands run.
  measure ??= (require('string-width') as { default: (text: string) => number }).default;
  return measure(text);
}

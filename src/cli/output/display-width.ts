/** The number of terminal columns that a text takes. */

import module from 'node:module';

/** The characters of most texts, including our own icons. Each takes one column. */
const NARROW = /^[\x20-\x7e–…✓✗●○◌◷⊘↷▓░]*$/;

let measure: ((text: string) => number) | undefined;

export function displayWidth(text: string): number {
  if (NARROW.test(text)) return text.length;
  // Loaded on demand: its tables of emoji take longer to compile than most commands run.
  measure ??= (module.createRequire(import.meta.url)('string-width') as { default: (text: string) => number }).default;
  return measure(text);
}

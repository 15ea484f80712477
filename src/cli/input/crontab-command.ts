/** Commands of crontab lines, with their standard input. */

import { quote } from './shell-line.ts';

/**
 * Returns an equivalent shell line. In a crontab the first `%` ends the command; the rest is its standard input, in which
 * every further `%` is a newline. `\%` is a percent sign.
 */
export function shellLineOf(text: string, shell = '/bin/sh'): string {
  const [command = '', ...input] = splitAtPercent(text);
  const line = ['/bin/sh', 'sh'].includes(shell) ? command : `${shell} -c ${quote(command)}`;
  // A `%` at the end ends the last line of the input and does not begin another.
  if (input.at(-1) === '') input.pop();
  if (input.length === 0) return line;
  const end = delimiterFor(input);
  return `{ ${line}\n} <<'${end}'\n${input.join('\n')}\n${end}`;
}

/** Splits at unescaped percent signs. `\%` becomes `%`; other escapes stay. */
function splitAtPercent(text: string): string[] {
  const parts = [''];
  for (const [piece] of text.matchAll(/\\[\s\S]|%|[\s\S]/g)) {
    if (piece === '%') parts.push('');
    else parts[parts.length - 1] += piece === '\\%' ? '%' : piece;
  }
  return parts;
}

/** Returns a word that is not a line of the input. */
function delimiterFor(lines: readonly string[]): string {
  const taken = new Set(lines);
  let word = 'INPUT';
  while (taken.has(word)) word += '_';
  return word;
}

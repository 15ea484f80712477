/** The command of a crontab line: what cron gives to the shell, and what to its standard input. */

/**
 * The same as one shell line. In a crontab the first `%` ends the command, what follows is its input, where every
 * further `%` is a new line; `\%` is a percent sign.
 */
export function shellLineOf(text: string, shell = '/bin/sh'): string {
  const [command = '', ...input] = splitAtPercent(text);
  const line = ['/bin/sh', 'sh'].includes(shell) ? command : `${shell} -c ${quoted(command)}`;
  // A `%` at the end ends the last line of the input; it begins no other.
  if (input.at(-1) === '') input.pop();
  if (input.length === 0) return line;
  const end = delimiterFor(input);
  return `{ ${line}\n} <<'${end}'\n${input.join('\n')}\n${end}`;
}

/** The parts between percent signs. A backslash guards the character after it, and goes where that is a percent sign. */
function splitAtPercent(text: string): string[] {
  const parts = [''];
  for (const [piece] of text.matchAll(/\\[\s\S]|%|[\s\S]/g)) {
    if (piece === '%') parts.push('');
    else parts[parts.length - 1] += piece === '\\%' ? '%' : piece;
  }
  return parts;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** A word that is no line of the input. */
function delimiterFor(lines: readonly string[]): string {
  let word = 'INPUT';
  while (lines.includes(word)) word += '_';
  return word;
}

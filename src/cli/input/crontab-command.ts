/** Commands of crontab lines: their standard input, their shell, where their output goes, and a name. */

import { quote } from './shell-line.ts';

/** What only bash understands: tests, process substitution, here-strings, arrays, ranges and the like. */
const BASHISMS =
  /\[\[|[<>]\(|<<<|&>|\|&|\(\(|\$'|=\(|\$\{[^}]*[\^,/:[]|\{[^}\s]*(?:,|\.\.)[^}\s]*\}|\b(?:source|shopt|pushd|function|pipefail)\b/;
/** Longer commands are given to their shell, and their ends are not looked at. */
const MAX_LENGTH = 4_000;
/** Words that every shell reads alike. */
const PLAIN = /^[\w\s./=:,@%+-]*$/;

/**
 * Returns an equivalent shell line for `sh`. In a crontab the first `%` ends the command; the rest is its standard input, in
 * which every further `%` is a newline. `\%` is a percent sign. Only a line that `sh` may read otherwise is given to its shell.
 */
export function shellLineOf(text: string, shell = '/bin/sh'): string {
  const [command = '', ...input] = splitAtPercent(text);
  const line = isForSh(command, shell) ? command : `${shell} -c ${quote(command)}`;
  // A `%` at the end ends the last line of the input and does not begin another.
  if (input.at(-1) === '') input.pop();
  if (input.length === 0) return line;
  const end = delimiterFor(input);
  return `{ ${line}\n} <<'${end}'\n${input.join('\n')}\n${end}`;
}

function isForSh(command: string, shell: string): boolean {
  const name = shell.split('/').at(-1) ?? '';
  if (['sh', 'dash', 'ash'].includes(name)) return true;
  if (command.length > MAX_LENGTH) return false;
  return name === 'bash' ? !BASHISMS.test(command) : PLAIN.test(command);
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

const REDIRECTION = /\s+(?:[12]?>>?|&>>?)\s*(?<to>&[12]|[^\s|;&<>()'"`%]+|"[^"]*"|'[^']*')\s*$/;

/** The command without the redirections at its end, and the file that its output goes to; `null` if Workron gets some of it. */
export function withoutRedirections(command: string): { command: string; file: string | null } {
  let rest = command;
  let file: string | null = null;
  if (command.length > MAX_LENGTH) return { command, file };
  for (let found = REDIRECTION.exec(rest); found !== null; found = REDIRECTION.exec(rest)) {
    const to = found.groups?.['to'] as string;
    // What goes to the bin on stderr alone leaves the rest of the output.
    if (!to.startsWith('&') && !/^\s+2>/.test(found[0])) file = to;
    rest = rest.slice(0, found.index);
  }
  return file === null ? { command, file } : { command: rest, file };
}

/** Programs that start another one; with the number of arguments of their own before it. */
const STARTERS: Readonly<Record<string, number>> = {
  bash: 0,
  bundle: 1,
  chronic: 0,
  chrt: 1,
  dash: 0,
  env: 0,
  exec: 0,
  flock: 1,
  ionice: 0,
  nice: 0,
  node: 0,
  nohup: 0,
  npx: 0,
  perl: 0,
  php: 0,
  python: 0,
  python3: 0,
  ruby: 0,
  sh: 0,
  sudo: 0,
  time: 0,
  timeout: 1,
};
/** Flags of sudo with a value. */
const VALUED = /^-[ug]$/;

/** The script that the command runs, else its program with the first path that it is about: `backup`, `find-tmp`. */
export function titleOf(command: string): string {
  const [first = ''] = command
    .slice(0, MAX_LENGTH)
    .replace(/^(\s*cd\s+\S+\s*(&&|;)|\s*\[+[^\]]*\]+\s*(&&|;)|\s*test\s[^;&|]*(&&|;))+/, '')
    .split(/[;|&<>%]/);
  const words = first.split(/\s+/).filter((word) => word !== '' && !/^\w+=/.test(word));
  let at = 0;
  for (let own = STARTERS[baseOf(words[at])]; own !== undefined; own = STARTERS[baseOf(words[at])]) {
    let next = at + 1;
    const isSudo = baseOf(words[at]) === 'sudo';
    while (/^(-|\d+$)/.test(words[next] ?? '')) next += isSudo && VALUED.test(words[next] as string) ? 2 : 1;
    next += own;
    if (words[next] === undefined) break;
    at = next;
    if (!(baseOf(words[at]) in STARTERS)) break;
  }
  const program = words[at] ?? '';
  const base = baseOf(program);
  if (program.includes('/') && !/^\/(usr\/(local\/)?)?s?bin\//.test(program)) return base;
  if (/\.\w{1,4}$/.test(program.replace(/["']/g, ''))) return base;
  const path = words.slice(at + 1).find((word) => /^["']?[~.\w$-]*\/\S*\w/.test(word) && !word.startsWith('-'));
  return path === undefined ? base : `${base}-${baseOf(path)}`;
}

/** `report` of `/opt/Report.sh`. */
function baseOf(word = ''): string {
  const name = word.replace(/["']/g, '').replace(/\/+$/, '').split('/').at(-1) ?? '';
  return name.toLowerCase().replace(/(?<=\w)\.(sh|bash|py|pl|rb|js|mjs|ts|php)$/, '');
}

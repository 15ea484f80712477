/** Turns the issues of a schema into findings for the author of a file. */

import type { z } from 'zod';
import { nearestWord } from '../../core/suggest.ts';
import { fittingBranch } from '../decode.ts';
import type { SourceFinding, SourcePath } from './source.ts';

/** Keys that people know from CI files, and their names here. */
const KNOWN_ELSEWHERE: Readonly<Record<string, string>> = {
  run: 'command',
  script: 'command',
  cmd: 'command',
  needs: 'depends_on',
  depends: 'depends_on',
  after: 'depends_on',
  when: 'if',
  matrix: 'for_each',
  foreach: 'for_each',
  with_items: 'for_each',
  concurrency: 'max_parallel',
  allow_failure: 'continue_on_failure',
  'continue-on-error': 'continue_on_failure',
  continue_on_error: 'continue_on_failure',
  retries: 'max_attempts',
  max_retries: 'max_attempts',
  retry: 'max_attempts',
  id: 'key',
  parameters: 'params',
  inputs: 'params',
  args: 'params',
  jobs: 'steps',
  tasks: 'steps',
  environment: 'env',
  variables: 'env',
  working_directory: 'cwd',
  'working-directory': 'cwd',
  'timeout-minutes': 'timeout',
  choices: 'enum',
  options: 'enum',
};

const KINDS: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a map',
  record: 'a map',
};

/** Returns one finding per mistake in `value`, which the schema refused. */
export function findingsOf(issues: readonly z.core.$ZodIssue[], value: unknown, at: SourcePath = []): SourceFinding[] {
  const misspelt = new Set(issues.flatMap(({ code, path }) => (code === 'unrecognized_keys' ? [path.join('/')] : [])));
  return (
    issues
      // If a key is misspelt, that the right key is missing adds nothing.
      .filter(({ code, path }) => code !== 'custom' || !misspelt.has(path.join('/')))
      .flatMap((issue) => findings(issue, value, [...at, ...(issue.path as (string | number)[])]))
  );
}

function findings(issue: z.core.$ZodIssue, value: unknown, path: SourcePath): SourceFinding[] {
  const found = valueAt(value, issue.path as SourcePath);
  switch (issue.code) {
    case 'unrecognized_keys': {
      const hints = issue.message.split('\n');
      return issue.keys.map((key, index) => {
        const hint = hints[index];
        return error(hint === undefined ? `unknown key "${key}"` : unknownKey(key, hint), [...path, key], 'key');
      });
    }
    case 'invalid_key':
      return [error(issue.issues[0]?.message ?? 'not a valid name', path, 'key')];
    case 'invalid_union': {
      const branch = fittingBranch(issue.errors);
      if (branch !== undefined && found !== undefined) return findingsOf(branch, found, path);
      if (isUnquoted(found) && issue.errors.some(wantsText)) return [unquoted(found, path)];
      return [mismatch(issue.message === 'Invalid input' ? expectedKinds(issue.errors) : issue.message, found, path)];
    }
    case 'invalid_type':
      if (issue.expected === 'string' && isUnquoted(found)) return [unquoted(found, path)];
      return [
        mismatch(
          isOwnMessage(issue.message) ? issue.message : `expected ${KINDS[issue.expected] ?? issue.expected}`,
          found,
          path,
        ),
      ];
    case 'invalid_value':
      return [mismatch(expectedWords(issue.values.map(String)), found, path, nearTo(found, issue.values.map(String)))];
    default:
      return [error(labelled(path, lowerFirst(issue.message)), path, 'value')];
  }
}

/** YAML reads `80` and `yes` as a number and a boolean. */
function isUnquoted(found: unknown): found is number | boolean {
  return typeof found === 'number' || typeof found === 'boolean';
}

function unquoted(found: number | boolean, path: SourcePath): SourceFinding {
  return error(labelled(path, `expected text: write "${String(found)}" in quotes`), path, 'value');
}

function wantsText([issue]: readonly z.core.$ZodIssue[]): boolean {
  return issue?.code === 'invalid_type' && issue.expected === 'string' && issue.path.length === 0;
}

function mismatch(expected: string, found: unknown, path: SourcePath, suggestion = ''): SourceFinding {
  const key = path.at(-1);
  if (found === undefined && typeof key === 'string')
    return error(`missing key "${key}": ${expected}`, path.slice(0, -1), 'value');
  return error(labelled(path, `${expected}, got ${shown(found)}${suggestion}`), path, 'value');
}

function error(message: string, path: SourcePath, at: SourceFinding['at']): SourceFinding {
  return { severity: 'error', message, path, at };
}

function labelled(path: SourcePath, message: string): string {
  const key = path.at(-1);
  return typeof key === 'string' && !message.startsWith(`${key} `) ? `${key}: ${message}` : message;
}

/** Reads the suggestion that `strict` has put into the message. */
function unknownKey(key: string, message: string): string {
  const similar = /did you mean (.*)\?$/.exec(message)?.[1];
  const known = /known are (.*)$/.exec(message)?.[1]?.split(', ');
  const elsewhere =
    KNOWN_ELSEWHERE[key] ??
    (similar === undefined ? KNOWN_ELSEWHERE[nearestWord(key, Object.keys(KNOWN_ELSEWHERE)) ?? ''] : undefined);
  const meant = elsewhere !== undefined && (similar !== undefined || known?.includes(elsewhere)) ? elsewhere : similar;
  if (meant !== undefined) return `unknown key "${key}" (did you mean "${meant}"?)`;
  return known === undefined ? `unknown key "${key}"` : `unknown key "${key}"; known are ${known.join(', ')}`;
}

function expectedKinds(branches: readonly (readonly z.core.$ZodIssue[])[]): string {
  const kinds = branches
    .flat()
    .flatMap((issue) => (issue.code === 'invalid_type' ? [KINDS[issue.expected] ?? issue.expected] : []));
  return kinds.length === 0 ? 'not valid' : `expected ${[...new Set(kinds)].join(' or ')}`;
}

function expectedWords(words: readonly string[]): string {
  return `expected ${[words.slice(0, -1).join(', '), words.at(-1)].filter((part) => part !== '').join(' or ')}`;
}

function nearTo(found: unknown, words: readonly string[]): string {
  const near = typeof found === 'string' ? nearestWord(found, words) : undefined;
  return near === undefined ? '' : ` (did you mean "${near}"?)`;
}

function isOwnMessage(message: string): boolean {
  return !message.startsWith('Invalid input');
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

function valueAt(value: unknown, path: SourcePath): unknown {
  return path.reduce<unknown>(
    (each, step) =>
      typeof each === 'object' && each !== null ? (each as Record<string | number, unknown>)[step] : undefined,
    value,
  );
}

function shown(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a map';
  const text = JSON.stringify(value);
  return text.length <= 60 ? text : `${text.slice(0, 59)}…`;
}

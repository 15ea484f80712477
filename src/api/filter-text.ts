/**
 * The filter of jobs as people type it: `queue:mail tag:eu status:failed since:1h error:"503"`. Words without a key are
 * searched for as text. No schema is loaded: the command line and the dashboard use it, too.
 */

import { didYouMean } from '../core/suggest.ts';

/** Each key with the field of the API that it sets, and what it means. */
export const FILTER_KEYS = {
  status: { field: 'status', about: 'failed, or several: failed,cancelled' },
  queue: { field: 'queue', about: 'of this queue' },
  name: { field: 'name', about: 'with this name' },
  tag: { field: 'tag', about: 'with this tag; may be repeated' },
  error: { field: 'error', about: 'with this text in the error' },
  since: { field: 'from', about: 'submitted since: 1h, or an instant' },
  until: { field: 'to', about: 'submitted before: 1h for an hour ago, or an instant' },
  reason: { field: 'reason', about: 'ended for this reason' },
  worker: { field: 'worker_id', about: 'run by this worker' },
  workflow: { field: 'workflow_id', about: 'steps of this workflow' },
  unique: { field: 'unique_key', about: 'submitted with this unique key' },
  by: { field: 'submitted_by', about: 'submitted by this token or person' },
  id: { field: 'ids', about: '12, or several: 12,13' },
} as const;

export type FilterKey = keyof typeof FILTER_KEYS;

/** Keys that may be repeated. */
const REPEATABLE: readonly string[] = ['status', 'tag', 'id'];

interface Span {
  /** The place in the text. */
  at: number;
  length: number;
}

export interface FilterTerm extends Span {
  /** `null` for text that is searched for. */
  key: FilterKey | null;
  value: string;
  /** The place of the value. */
  valueAt: Span;
}

export interface FilterProblem extends Span {
  message: string;
}

export type ParsedFilter =
  | { terms: readonly FilterTerm[]; problem: null }
  | { terms: readonly FilterTerm[]; problem: FilterProblem };

/** A key with its colon, then a quoted or a plain value. A quote that is not closed reaches to the end. */
const TERM = /(?:([A-Za-z_-]+):(?!\/\/))?(?:"((?:[^"\\]|\\[^])*)("?)|([^\s"]+))?/y;

/** Splits the text into its terms. `terms` are those before the problem. */
export function parseFilterText(text: string): ParsedFilter {
  const terms: FilterTerm[] = [];
  for (let at = skipSpaces(text, 0); at < text.length; ) {
    TERM.lastIndex = at;
    const [whole = '', key, quoted, quote, plain] = TERM.exec(text) ?? [];
    const length = Math.max(1, whole.length);
    const valueAt = { at: at + (key === undefined ? 0 : key.length + 1), length: 0 };
    valueAt.length = Math.max(1, at + length - valueAt.at);
    const problem = (message: string, span: Span = { at, length }): ParsedFilter => ({
      terms,
      problem: { message, at: span.at, length: span.length },
    });
    if (quoted !== undefined && quote === '') return problem('expected a closing quote', valueAt);
    if (key !== undefined && !isKey(key)) {
      const keys = Object.keys(FILTER_KEYS);
      const hint = didYouMean(key, keys) ?? `expected ${keys.join(', ')}`;
      return problem(`unknown key "${key}"; ${hint}`, { at, length: key.length });
    }
    const value = quoted === undefined ? (plain ?? '') : quoted.replaceAll(/\\([^])/g, '$1');
    if (value.trim() === '') return problem(key === undefined ? 'expected a word' : `expected a value after ${key}:`);
    if (key !== undefined && !REPEATABLE.includes(key) && terms.some((term) => term.key === key)) {
      return problem(`${key} was given twice: expected one value`);
    }
    terms.push({ key: key ?? null, value, at, length, valueAt });
    at = skipSpaces(text, at + length);
  }
  return { terms, problem: null };
}

/** The problem, the text, and a mark below the place. */
export function filterProblemText(text: string, { message, at, length }: FilterProblem): string {
  return `${message}\n${text}\n${' '.repeat(at)}${'^'.repeat(length)}`;
}

function isKey(key: string): key is FilterKey {
  return Object.hasOwn(FILTER_KEYS, key);
}

function skipSpaces(text: string, from: number): number {
  let at = from;
  while (at < text.length && /\s/.test(text[at] as string)) at += 1;
  return at;
}

/** Converts between the filter in the address and the filter as people type it. */

import { FILTER_KEYS, type FilterKey, parseFilterText } from '../../../../src/api/filter-text.ts';
import type { FilterField, JobQuery } from './job-query.ts';

const KEY_OF = new Map(Object.entries(FILTER_KEYS).map(([key, { field }]) => [field as string, key as FilterKey]));

/** The typed form, such as `queue:mail status:failed 503`. Fields without a key are left out. */
export function wordsOf(query: JobQuery): string {
  const terms = Object.entries(query).flatMap(([field, value]) => {
    const key = KEY_OF.get(field);
    if (field === 'q') return [];
    if (key === undefined) return [];
    const values = key === 'tag' ? value.split(',') : [value];
    return values.map((each) => `${key}:${quoted(each)}`);
  });
  return [...terms, ...(query.q === undefined ? [] : [textWords(query.q)])].join(' ');
}

/** The filter of a typed text; `kept` has the fields that it cannot express. Returns the message if it is not valid. */
export function queryOf(text: string, kept: JobQuery): { query: JobQuery } | { problem: string } {
  const { terms, problem } = parseFilterText(text);
  if (problem !== null) return { problem: problem.message };
  const query: JobQuery = Object.fromEntries(
    Object.entries(kept).filter(([field]) => field !== 'q' && !KEY_OF.has(field)),
  );
  const words: string[] = [];
  for (const { key, value } of terms) {
    if (key === null) words.push(value);
    else {
      const field = FILTER_KEYS[key].field as FilterField;
      query[field] = query[field] === undefined ? value : `${query[field]},${value}`;
    }
  }
  return { query: words.length === 0 ? query : { ...query, q: words.join(' ') } };
}

function quoted(value: string): string {
  return /^[^\s"]+$/.test(value) ? value : `"${value.replaceAll(/["\\]/g, '\\$&')}"`;
}

/** Text whose words contain a colon is quoted, so that it is not taken for a key. */
function textWords(text: string): string {
  return /[:"]/.test(text) ? quoted(` ${text}`).replace('" ', '"') : text;
}

/** The term that is typed at the end of the text: its start, its key and the beginning of its value. */
export function termAtEnd(text: string): { at: number; key: string | null; begun: string } {
  const at = text.search(/[^\s]*$/);
  const word = text.slice(at);
  const colon = word.indexOf(':');
  return colon === -1
    ? { at, key: null, begun: word }
    : { at, key: word.slice(0, colon), begun: word.slice(colon + 1).replace(/^"/, '') };
}

export function withTerm(text: string, at: number, key: string | null, value: string): string {
  return `${text.slice(0, at)}${key === null ? `${value}:` : `${key}:${quoted(value)} `}`;
}

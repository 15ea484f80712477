/** The typed filter of jobs, decoded to the fields of the API. */

import { REASONS, STATUSES } from '../core/job.ts';
import { didYouMean } from '../core/suggest.ts';
import { FILTER_KEYS, type FilterKey, type FilterTerm, filterProblemText, parseFilterText } from './filter-text.ts';

/** Words that a key takes, for suggestions. */
const KNOWN_VALUES: Partial<Record<FilterKey, readonly string[]>> = { status: STATUSES, reason: REASONS };

/** Decodes the value of a field; returns the message of its refusal. */
type DecodeField = (field: string, value: string) => { data: unknown } | { message: string };

/** Returns the fields that the text sets, or what is wrong with it, with a mark below the place. */
export function fieldsOfText(
  text: string,
  decode: DecodeField,
): { fields: Record<string, unknown> } | { message: string } {
  const { terms, problem } = parseFilterText(text);
  if (problem !== null) return { message: filterProblemText(text, problem) };
  const fields: Record<string, unknown> = {};
  const words: string[] = [];
  for (const term of terms) {
    if (term.key === null) {
      words.push(term.value);
      continue;
    }
    const { field } = FILTER_KEYS[term.key];
    const decoded = decode(field, term.value);
    if ('message' in decoded) return { message: refusal(text, term, decoded.message) };
    const before = fields[field];
    fields[field] = Array.isArray(before) ? [...before, ...(decoded.data as unknown[])] : decoded.data;
  }
  if (words.length > 0) {
    const decoded = decode('q', words.join(' '));
    if ('message' in decoded)
      return { message: filterProblemText(text, { message: decoded.message, at: 0, length: 1 }) };
    fields['q'] = decoded.data;
  }
  return { fields };
}

function refusal(text: string, { key, value, valueAt }: FilterTerm, message: string): string {
  const known = key === null ? undefined : KNOWN_VALUES[key];
  const wrong = value.split(',').find((word) => !known?.includes(word)) ?? value;
  const hint = known === undefined ? undefined : didYouMean(wrong, known);
  return filterProblemText(text, { message: hint === undefined ? message : `${message}; ${hint}`, ...valueAt });
}

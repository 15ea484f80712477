/** Free text search in jobs: a cheap condition that may let too much through, then an exact one. */

import type { Param } from '../base/database.ts';

export interface TextSearch {
  /** From the aliases j (job) and r (its last run). */
  condition: string;
  params: Param[];
}

/** The ids above this are the newest `?`. */
export const windowStart = '(select coalesce(max(id), 0) from job) - ?';

export interface TextSearchInput {
  text: string;
  /** Restricts the search to this number of newest ids. */
  newest: number | undefined;
  /** True if r must be looked up job by job. */
  seeksRun: boolean;
}

/** Finds the text in name, command or error, and without spaces in the input, whatever the case. */
export function textSearch({ text, newest, seeksRun }: TextSearchInput): TextSearch {
  const wanted = text.toLowerCase();
  const places = ['j.name', `j.spec ->> 'command'`, 'r.error', `replace(j.spec ->> 'input', ' ', '')`];
  const texts = [wanted, wanted, wanted, wanted.replaceAll(' ', '')];
  const pattern = roughPattern(wanted);
  const bounded = seeksRun && newest !== undefined;
  // Errors are few: those that may contain the text are collected once.
  const gathered = `select e.job_id from run e where ${bounded ? `e.job_id > ${windowStart}` : 'true'}
    and e.error is not null and (${mayHold('e.error')})`;
  return {
    condition: `(${mayHold('j.name')} or ${mayHold('j.spec')} or ${seeksRun ? `j.id in (${gathered})` : mayHold('r.error')})
      and (${places.map(holds).join(' or ')})`,
    params: [pattern, pattern, ...(bounded ? [newest] : []), pattern, ...texts.flatMap((part) => [part, part])],
  };
}

/** SQLite compares ASCII quickly; only other text is passed to our function. */
function holds(place: string): string {
  return `instr(lower(${place}), ?) > 0 or (${isForeign(place)} and contains(${place}, ?))`;
}

function mayHold(place: string): string {
  return `${place} like ? escape '!' or ${isForeign(place)}`;
}

function isForeign(place: string): string {
  return `length(${place}) <> octet_length(${place})`;
}

/** Characters that JSON may escape match anything, and so do spaces, which are ignored in the input. */
function roughPattern(text: string): string {
  const plain = text.split(/[^!#-[\]-~]+/);
  return `%${plain.map((part) => part.replaceAll(/[!%_]/g, '!$&')).join('%')}%`;
}

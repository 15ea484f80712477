/** Free text in jobs: a cheap look at everything that may let too much through, then the exact one at what is left. */

import type { Param } from '../base/database.ts';

export interface TextSearch {
  /** From the aliases j (job) and r (its last run). */
  condition: string;
  params: Param[];
}

/** The newest so many ids begin after this. */
export const windowStart = '(select coalesce(max(id), 0) from job) - ?';

export interface TextSearchInput {
  text: string;
  /** Only among jobs with the newest so many ids. */
  newest: number | undefined;
  /** Whether r must be sought job by job. */
  seeksRun: boolean;
}

/** Finds the text in name, command or error, and without spaces in the input, whatever the case. */
export function textSearch({ text, newest, seeksRun }: TextSearchInput): TextSearch {
  const wanted = text.toLowerCase();
  const places = ['j.name', `j.spec ->> 'command'`, 'r.error', `replace(j.spec ->> 'input', ' ', '')`];
  const texts = [wanted, wanted, wanted, wanted.replaceAll(' ', '')];
  const pattern = roughPattern(wanted);
  const bounded = seeksRun && newest !== undefined;
  // Errors are few: those that may hold the text are gathered once.
  const gathered = `select e.job_id from run e where ${bounded ? `e.job_id > ${windowStart}` : 'true'}
    and e.error is not null and (${mayHold('e.error')})`;
  return {
    condition: `(${mayHold('j.name')} or ${mayHold('j.spec')} or ${seeksRun ? `j.id in (${gathered})` : mayHold('r.error')})
      and (${places.map(holds).join(' or ')})`,
    params: [pattern, pattern, ...(bounded ? [newest] : []), pattern, ...texts.flatMap((part) => [part, part])],
  };
}

/** SQLite compares ASCII by itself, and quickly; only text beyond that is handed to us. */
function holds(place: string): string {
  return `instr(lower(${place}), ?) > 0 or (${isForeign(place)} and contains(${place}, ?))`;
}

function mayHold(place: string): string {
  return `${place} like ? escape '!' or ${isForeign(place)}`;
}

function isForeign(place: string): string {
  return `length(${place}) <> octet_length(${place})`;
}

/** Whatever JSON may write in another way stands for anything, and so do spaces, which do not count in the input. */
function roughPattern(text: string): string {
  const plain = text.split(/[^!#-[\]-~]+/);
  return `%${plain.map((part) => part.replaceAll(/[!%_]/g, '!$&')).join('%')}%`;
}

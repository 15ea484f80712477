/** Finds a text in jobs, whatever the case. */

import { WEBHOOK_HANDLER } from '../../core/notify.ts';
import { type Dialect, type Fragment, join, raw, sql } from '../sql/sql.ts';

export interface TextSearch {
  text: string;
  /** Searches the error alone, instead of name, command, error and, without spaces, the input. */
  errorOnly: boolean;
  /** Searches jobs above this id only. */
  above: number;
}

export interface TextPlace {
  dialect: Dialect;
  /** True if PostgreSQL has a collation that folds the case of all letters. */
  folds: boolean;
  /** True if the last run of a job is looked up job by job. */
  seeksRun: boolean;
}

/**
 * A condition that needs no other table and may let too much through, then the exact one. From the aliases j (job) and r (its last
 * run).
 */
export function textConditions({ text, errorOnly, above }: TextSearch, place: TextPlace): Fragment[] {
  const { dialect, folds, seeksRun } = place;
  const { holds, mayHold } = dialect === 'postgres' ? postgresSearch(text, folds) : sqliteSearch(text);
  const inJob = [
    holds('j.name', text),
    holds(`j.spec ->> 'command'`, text),
    // The input of a webhook is not for readers.
    sql`j.kind <> ${raw(`'${WEBHOOK_HANDLER}'`)} and (${holds(`replace(j.spec ->> 'input', ' ', '')`, text.replaceAll(' ', ''))})`,
  ];
  const exact = oneOf([...(errorOnly ? [] : inJob), holds('r.error', text)]);
  if (dialect === 'postgres' && !seeksRun) return [exact];
  const within = above > 0 ? sql`e.job_id > ${above}` : sql`true`;
  // Errors are few: where each would be looked up, those that may contain the text are collected once.
  const error = seeksRun
    ? sql`j.id in (select e.job_id from run e where ${within} and e.error is not null and (${mayHold('e.error')}))`
    : mayHold('r.error');
  const roughly = dialect === 'postgres' ? inJob : [mayHold('j.name'), mayHold('j.spec')];
  return [oneOf([...(errorOnly ? [] : roughly), error]), exact];
}

function oneOf(conditions: readonly Fragment[]): Fragment {
  return sql`(${join(conditions, ' or ')})`;
}

interface Search {
  /** True if the text is in a place. */
  holds: (place: string, text: string) => Fragment;
  /** As `holds`, but may be true for others. */
  mayHold: (place: string) => Fragment;
}

function postgresSearch(wanted: string, folds: boolean): Search {
  const isPlain = !/[^\p{ASCII}]/u.test(wanted);
  // "C" folds ASCII only, which takes half the time of other collations.
  const collation = raw(isPlain ? ' collate "C"' : folds ? ' collate "und-x-icu"' : '');
  const holds = (place: string, text: string) =>
    sql`position(lower(${text}::text${collation}) in lower((${raw(place)})${collation})) > 0`;
  return { holds, mayHold: (place) => holds(place, wanted) };
}

/** SQLite compares ASCII quickly; only other text is passed to our function. */
function sqliteSearch(wanted: string): Search {
  const isForeign = (place: string) => raw(`length(${place}) <> octet_length(${place})`);
  const pattern = roughPattern(wanted.toLowerCase());
  return {
    holds(place, text) {
      const folded = text.toLowerCase();
      return sql`instr(lower(${raw(place)}), ${folded}) > 0 or (${isForeign(place)} and contains(${raw(place)}, ${folded}))`;
    },
    mayHold: (place) => sql`${raw(place)} like ${pattern} escape '!' or ${isForeign(place)}`,
  };
}

/** Characters that JSON may escape match anything, and so do spaces, which are ignored in the input. */
function roughPattern(text: string): string {
  const plain = text.split(/[^!#-[\]-~]+/);
  return `%${plain.map((part) => part.replaceAll(/[!%_]/g, '!$&')).join('%')}%`;
}

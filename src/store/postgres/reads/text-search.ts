/** Free text search in jobs: a condition that needs no other table, then the exact one. */

import type { Context } from '../base/context.ts';

type Bind = (value: unknown) => string;

export interface TextSearch {
  /** From the aliases j (job) and r (its last run). */
  exact: string;
  /** Uses j alone and lets too much through, for searches that look up r job by job. Must be called at most once. */
  rough: () => string;
}

/** Finds the text in name, command or error, and without spaces in the input, whatever the case; in jobs `above` an id. */
export function textSearch(
  { schema: s, folds }: Pick<Context, 'schema' | 'folds'>,
  { text, above }: { text: string; above: number | undefined },
  bind: Bind,
): TextSearch {
  // The database's collation may fold ASCII only, but it is faster.
  const isPlain = !/[^\p{ASCII}]/u.test(text);
  const folded = (part: string) => `lower((${part})${folds && !isPlain ? ' collate "und-x-icu"' : ''})`;
  const wanted = folded(`${bind(text)}::text`);
  const holds = (place: string) => `position(${wanted} in ${folded(place)}) > 0`;
  const inJob = [
    holds('j.name'),
    holds(`j.spec ->> 'command'`),
    `position(replace(${wanted}, ' ', '') in replace(${folded(`j.spec ->> 'input'`)}, ' ', '')) > 0`,
  ].join(' or ');
  return {
    exact: `(${inJob} or ${holds('r.error')})`,
    rough: () => {
      const within = above === undefined ? '' : `e.job_id > ${bind(above)}::bigint and`;
      // Errors are few: those that contain the text are collected once.
      const gathered = `select e.job_id from ${s}.run e where ${within} e.error is not null and ${holds('e.error')}`;
      return `(${inJob} or j.id in (${gathered}))`;
    },
  };
}

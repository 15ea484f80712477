import { WEBHOOK_HANDLER } from '../../../core/notify.ts';
import type { Context } from '../base/context.ts';

/** A condition that needs no other table, then the exact one. */
interface TextSearch {
  /** From the aliases j (job) and r (its last run). */
  exact: string;
  /** Uses j alone and lets too much through, for searches that look up r job by job. Must be called at most once. */
  rough: () => string;
}

/**
 * Finds the text in name, command or error, and without spaces in the input, or in the error alone; whatever the case, in
 * jobs `above` an id.
 */
export function textSearch(
  { schema: s, folds }: Pick<Context, 'schema' | 'folds'>,
  { text, above, errorOnly = false }: { text: string; above: number | undefined; errorOnly?: boolean },
  bind: (value: unknown) => string,
): TextSearch {
  const isPlain = !/[^\p{ASCII}]/u.test(text);
  // "C" folds ASCII only, which takes half the time of other collations.
  const collation = isPlain ? ' collate "C"' : folds ? ' collate "und-x-icu"' : '';
  const folded = (part: string) => `lower((${part})${collation})`;
  const wanted = folded(`${bind(text)}::text`);
  const holds = (place: string) => `position(${wanted} in ${folded(place)}) > 0`;
  const inJob = [
    holds('j.name'),
    holds(`j.spec ->> 'command'`),
    // Most commands have no input: it is looked for before it is folded.
    // The input of a webhook is not for readers.
    `(j.spec ? 'input' and j.kind <> '${WEBHOOK_HANDLER}' and position(replace(${wanted}, ' ', '') in replace(${folded(`j.spec ->> 'input'`)}, ' ', '')) > 0)`,
  ].join(' or ');
  const orInJob = errorOnly ? '' : `${inJob} or `;
  return {
    exact: `(${orInJob}${holds('r.error')})`,
    rough: () => {
      const within = above === undefined ? '' : `e.job_id > ${bind(above)}::bigint and`;
      // Errors are few: those that contain the text are collected once.
      const gathered = `select e.job_id from ${s}.run e where ${within} e.error is not null and ${holds('e.error')}`;
      return `(${orInJob}j.id in (${gathered}))`;
    },
  };
}

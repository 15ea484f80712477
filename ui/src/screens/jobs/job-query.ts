/** The filter of the list, as it is kept in the address. */

import { FILTER_KEYS } from '../../../../src/api/filter-text.ts';
import type { JobFilterInput } from '../../../../src/api/job-filter.ts';
import { shellQuote, workron } from '../../words/as-command.ts';
import type { BulkAction } from './bulk-bar.tsx';

export const FILTER_FIELDS = [
  'status',
  'queue',
  'name',
  'tag',
  'worker_id',
  'reason',
  'from',
  'to',
  'error',
  'unique_key',
  'submitted_by',
  'ids',
  'q',
  'workflow_id',
  'group_id',
] as const;
export type FilterField = (typeof FILTER_FIELDS)[number];

/** The text of each field; absent if empty. */
export type JobQuery = Partial<Record<FilterField, string>>;

export function queryFrom(search: URLSearchParams): JobQuery {
  const query: JobQuery = {};
  for (const field of FILTER_FIELDS) {
    const value = search.get(field)?.trim();
    if (value) query[field] = value;
  }
  return query;
}

export function searchFrom(query: JobQuery): URLSearchParams {
  return new URLSearchParams(FILTER_FIELDS.flatMap((field) => (query[field] ? [[field, query[field]]] : [])));
}

/** The filter for the API. A comma in `tag` separates tags that must all be present. */
export function filterFrom({ tag, ids: _ids, ...rest }: JobQuery): Omit<JobFilterInput, 'ids'> {
  return {
    ...(rest as Omit<JobFilterInput, 'ids' | 'tag'>),
    ...(tag === undefined ? {} : { tag: tag.split(',').map((each) => each.trim()) }),
  };
}

/** The filter of a bulk operation. */
export function bulkFilterFrom(query: JobQuery): JobFilterInput {
  return { ...filterFrom(query), ...(query.ids === undefined ? {} : { ids: query.ids.split(',') }) };
}

/** The command line has the words of a typed filter as flags; jobs themselves are named as arguments. */
const FLAGS: readonly [FilterField, string][] = [
  ...Object.entries(FILTER_KEYS).flatMap(([key, { field }]): [FilterField, string][] =>
    field === 'ids' ? [] : [[field, `--${key}`]],
  ),
  ['q', '--search'],
];

/** The command line of a bulk action; jobs are deleted by `jobs rm`. */
export function bulkAsCli(action: BulkAction, which: string): string {
  return workron(`${action === 'delete' ? 'jobs rm' : action} ${which}`);
}

/** The same filter on the command line; `null` if the command line does not support it. */
export function filterAsCli(action: BulkAction, query: JobQuery): string | null {
  if (Object.keys(query).length === 0) return bulkAsCli(action, '--all');
  const flags = FLAGS.flatMap(([field, flag]) => (query[field] ? [flag, shellQuote(query[field])] : []));
  const said = flags.length > 0 && flags.length / 2 === Object.keys(query).length;
  return said ? bulkAsCli(action, flags.join(' ')) : null;
}

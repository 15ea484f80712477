/** Which tables an export has, and what PostgreSQL reads for a column of the SQLite schema. */

import { FLAG } from '../../store/flags.ts';
import { isMoved } from '../promote/tables.ts';
import type { SourceTable } from './format.ts';

/** The tables with their columns, in a fixed order. */
export function exportedTables(columns: ReadonlyMap<string, readonly string[]>): SourceTable[] {
  const names = [...columns.keys()].filter(isMoved).sort();
  return names.map((name) => ({ name, columns: columns.get(name) ?? [] }));
}

const COUNTERS = ['failures', 'interruptions', 'snoozes', 'losses'];

/** What PostgreSQL reads for a column that SQLite has under another name or in another form. `t` is the row. */
export function readAs(table: string, column: string, schema: string): string | undefined {
  // PostgreSQL stores nothing for zero.
  if (table === 'live' && COUNTERS.includes(column)) return `coalesce(t."${column}", 0)`;
  if (table === 'run' && COUNTERS.includes(column)) {
    return `case when t.status is not null then coalesce(t."${column}", 0) end`;
  }
  switch (`${table}.${column}`) {
    case 'live.status':
      return `case when t.claimed then 'running' else t.listed_as end`;
    case 'live.claim_seq':
      return `case when t.claimed then (select c.seq from "${schema}".claim c
        where c.worker_id = t.worker_id and t.job_id = any(c.job_ids) order by c.id desc limit 1) end`;
    case 'live.flags':
      return `t.flags & ~${FLAG.neverPrefetched}`;
    case 'job_group.total':
      return 'jsonb_array_length(t.items)';
    // Claims look at all of them again.
    case 'parking.opens_at':
      return '0';
    case 'idempotency.answer':
      return `case when jsonb_typeof(t.answer) = 'object' then t.answer
        else (select coalesce(jsonb_agg(jsonb_build_array(i.item -> 'job_id', i.item -> 'deduplicated') order by i.place), '[]')
          from jsonb_array_elements(t.answer) with ordinality i(item, place)) end::text`;
    default:
      return undefined;
  }
}

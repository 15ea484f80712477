/** Retention. */

import type { Twins } from '../../statements.ts';
import { nowIn } from './instants.ts';

export function pruneSql(s: string) {
  /** The instant before which rows are kept for too long. */
  const before = (keepMs: string) => `(select now from t) - ${keepMs}::float8 * interval '1 ms'`;
  /** Deletes rows that an index finds, in the order of the index, and counts them. */
  const sweep = (table: string, key: string, found: string) => `with ${nowIn(s)},
      gone as (
        delete from ${s}.${table} where ${key} = any(array(
          select ${key} from ${s}.${table} where ${found} for update skip locked)) returning 1)
      select count(*) as count from gone`;

  return {
    pruneKeys: sweep('unique_key', 'key', `expires_at <= (select now from t) order by expires_at limit $1`),
    pruneIdempotency: sweep('idempotency', 'key', `created_at <= ${before('$1')} order by created_at limit $2`),
    pruneAlarms: sweep('alarm', 'subject', `raised_at < ${before('$1')} order by raised_at limit $2`),
    pruneStats: sweep('stat', 'ctid', `minute < ${before('$1')} order by minute limit $2`),
  } satisfies Twins<'prune'>;
}

/** Bounds that spare lists from reading jobs that cannot match. */

import type { Reason, Status, TerminalStatus } from '../../core/job.ts';
import type { JobFilter } from '../../core/job-filter.ts';
import { columns } from '../sql/columns.ts';
import { after, at, type Fragment, type Part, raw, sql } from '../sql/sql.ts';
import type { Tx } from '../sql/tx.ts';

/**
 * Ids and creation times rise together, up to this difference: a statement, which may take ten seconds, reads the clock before it
 * gets ids, and a server's clock may be set back a little. A search by ids for jobs of a time range extends the range by this.
 */
export const CREATION_SLACK_MS = 60_000;

/**
 * A filter with bounds of the ids: `before` and `above` are exclusive, `upTo` is inclusive. Numbers, not subqueries, so that
 * PostgreSQL's planner knows how few jobs they leave.
 */
export interface Bounded extends Omit<JobFilter, 'newest'> {
  before: number | null;
  above: number;
  upTo: number;
  folds: boolean;
}

const found = columns<{ id: number | null }>({ id: 'bigint' });
const gone = columns<{ at: number }>({ at: 'instant' });

/**
 * Adds what follows from the filter: creation times bound the ids, a job of a worker that is offline was created before its
 * last lease ended, and a reason implies a status.
 */
export async function bounded(tx: Tx, { newest, ...filter }: JobFilter & { before: number | null }): Promise<Bounded> {
  const idFrom = async (statement: Fragment) => (await tx.get(found, statement))?.id ?? 0;
  const { createdFrom, workerId } = filter;
  const statuses = statusesOf(filter);
  const left = workerId === undefined ? undefined : await tx.get(gone, goneAt(workerId));
  const createdTo = Math.min(filter.createdTo ?? Infinity, left?.at ?? Infinity);
  const [window, from, upTo] = await Promise.all([
    newest === undefined ? 0 : idFrom(sql`select max(id) as id from job`),
    createdFrom === undefined ? 0 : idFrom(lastJobBefore(at(createdFrom - CREATION_SLACK_MS))),
    createdTo === Infinity ? Infinity : idFrom(lastJobBefore(at(createdTo + CREATION_SLACK_MS))),
  ]);
  const above = Math.max(window - (newest ?? 0), from);
  return { ...filter, ...(statuses === undefined ? {} : { statuses }), above, upTo, folds: tx.folds };
}

/** An offline worker may have claimed until its lease ended, without a later heartbeat. */
function goneAt(workerId: number): Fragment {
  const end = after(raw('seen_at'), raw('lease_ms'));
  return sql`select ${end} as at from worker where id = ${workerId} and state = 'offline'`;
}

/** Selects an `id` up to which all jobs were created before an instant, and above which none was: the end of a bisection. */
export function lastJobBefore(instant: Part): Fragment {
  return sql`with recursive found(id, size) as (
      select cast(0 as bigint), coalesce(max(id), 0) + 1 from job
      union all
      select case when (
          select j.created_at from job j where j.id > f.id and j.id <= f.id + (f.size + 1) / 2 order by j.id desc limit 1
        ) >= ${instant} then f.id else f.id + (f.size + 1) / 2 end, (f.size + 1) / 2
      from found f where f.size > 1)
    select max(id) as id from found`;
}

const SKIPPED: readonly Reason[] = ['upstream_failed', 'condition', 'limit', 'gang'];

/** The statuses that jobs may have: a job with a reason has the status that follows from it. `undefined`: any. */
function statusesOf({ statuses, reason }: JobFilter): readonly Status[] | undefined {
  if (reason === undefined) return statuses;
  const end = endWith(reason);
  return statuses === undefined || statuses.includes(end) ? [end] : [];
}

function endWith(reason: Reason): TerminalStatus {
  if (reason === 'cancelled') return 'cancelled';
  return SKIPPED.includes(reason) ? 'skipped' : 'failed';
}

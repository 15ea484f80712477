/** Bounds that spare lists of the SQL stores from reading jobs that cannot match. */

import type { Reason, Status, TerminalStatus } from '../core/job.ts';
import type { JobFilter } from '../core/job-filter.ts';

/**
 * Ids and creation times rise together, up to this difference: a statement, which may take ten seconds, reads the clock before it
 * gets ids, and a server's clock may be set back a little. A search by ids for jobs of a time range extends the range by this.
 */
export const CREATION_SLACK_MS = 60_000;

const SKIPPED: readonly Reason[] = ['upstream_failed', 'condition', 'limit', 'gang'];

/** The statuses that jobs may have: a job with a reason has the status that follows from it. `undefined`: any. */
export function statusesOf({ statuses, reason }: JobFilter): readonly Status[] | undefined {
  if (reason === undefined) return statuses;
  const end = endWith(reason);
  return statuses === undefined || statuses.includes(end) ? [end] : [];
}

function endWith(reason: Reason): TerminalStatus {
  if (reason === 'cancelled') return 'cancelled';
  return SKIPPED.includes(reason) ? 'skipped' : 'failed';
}

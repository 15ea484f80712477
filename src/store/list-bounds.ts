/** What the SQL stores know of jobs that a list need not look at. */

import type { Reason, TerminalStatus } from '../core/job.ts';

/**
 * Ids and instants of creation rise together, but for so long at most: a statement reads the clock before it is given ids, and
 * the clock of a server may be set back a little. Whoever looks for jobs of some time by their ids looks so much further.
 */
export const CREATION_SLACK_MS = 600_000;

/** How jobs ended that have this reason. */
export function endWith(reason: Reason): TerminalStatus {
  if (reason === 'cancelled') return 'cancelled';
  return reason === 'upstream_failed' || reason === 'condition' ? 'skipped' : 'failed';
}

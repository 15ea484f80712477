/** What the SQL stores know of jobs that a list need not look at. */

import type { Status } from '../core/job.ts';

/**
 * Ids and instants of creation rise together, but for so long at most: a statement reads the clock before it is given ids, and
 * the clock of a server may be set back a little. Whoever looks for jobs of some time by their ids looks so much further.
 */
export const CREATION_SLACK_MS = 600_000;

/** Only jobs that ended like this have a reason. */
export const WITH_REASON: readonly Status[] = ['failed', 'cancelled', 'skipped'];

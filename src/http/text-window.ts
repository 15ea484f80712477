/** Limits how far back lists search for free text and submitters, which have no index. */

import type { Scheduler } from '../scheduler/scheduler.ts';

/** The number of newest ids that are searched. */
export const NEWEST_SEARCHED = 100_000;

/** Returns the time of the newest job that was not searched; `null` if all jobs were. */
export async function searchedBackTo(
  scheduler: Pick<Scheduler, 'jobs'>,
  newest: number,
  signal: AbortSignal,
): Promise<number | null> {
  const { items: last } = await scheduler.jobs({}, { before: null, limit: 1 }, signal);
  const before = (last[0]?.id ?? 0) - newest + 1;
  if (before <= 1) return null;
  const { items: outside } = await scheduler.jobs({}, { before, limit: 1 }, signal);
  return outside[0]?.createdAt ?? null;
}

/** How long to leave alone what has just failed for a reason of its own, so that others go on. */

const MIN_DELAY_MS = 5_000;
/** Less than the usual window of a catch-up, so that what is mended within the hour still runs. */
const MAX_DELAY_MS = 15 * 60_000;

/** As long again as it is late by now, within bounds: so every time is twice as long as the one before. */
export function retryDelay(lateMs: number): number {
  return Math.min(MAX_DELAY_MS, Math.max(MIN_DELAY_MS, lateMs));
}

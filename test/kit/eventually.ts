/** Waits for a condition that another process or another part of the program makes true. */

import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { effort } from '../effort.ts';

export interface EventuallyOptions {
  /** The pause between two calls of the probe. */
  everyMs?: number;
  /** How long to wait before giving up. */
  withinMs?: number;
  /** Treat an error of the probe as "not yet", for what is away for a while. Without it the error is thrown at once. */
  retryErrors?: boolean;
}

type Probe<T> = () => Promise<T | undefined | false> | T | undefined | false;

/**
 * Calls `probe` until it returns something other than `undefined` and `false`, and returns that. Gives up after
 * `withinMs` with an error that shows the probe and what it last returned or threw.
 */
export async function eventually<T>(
  probe: Probe<T>,
  { everyMs = 20, withinMs = effort.waitMs, retryErrors = false }: EventuallyOptions = {},
): Promise<T> {
  const deadline = performance.now() + withinMs;
  let last: { returned: unknown } | { threw: unknown };
  do {
    try {
      const found = await probe();
      if (found !== undefined && found !== false) return found;
      last = { returned: found };
    } catch (error) {
      if (!retryErrors) throw error;
      last = { threw: error };
    }
    await sleep(everyMs);
  } while (performance.now() < deadline);
  const lastSeen = 'threw' in last ? `threw ${inspect(last.threw)}` : `returned ${inspect(last.returned)}`;
  throw new Error(`not true within ${withinMs} ms: ${String(probe)}\nlast call ${lastSeen}`);
}

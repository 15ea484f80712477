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

/** Remembers a value for the error message, and returns it. */
type Saw = <V>(value: V) => V;
type Found<T> = T | undefined | false;
type Probe<T> = (saw: Saw) => Promise<Found<T>> | Found<T>;

const NOTHING = Symbol('nothing');
const LATE = Symbol('late');

/**
 * Calls `probe` until it returns something other than `undefined` and `false`, and returns that. Gives up after
 * `withinMs`, even if a call of the probe never returns. The error shows the probe, what it last returned or threw, and what it
 * has passed to `saw`.
 */
export async function eventually<T>(
  probe: Probe<T>,
  { everyMs = 20, withinMs = effort.waitMs, retryErrors = false }: EventuallyOptions = {},
): Promise<T> {
  const deadline = performance.now() + withinMs;
  let seen: unknown = NOTHING;
  let last = 'the first call has not returned';
  const saw: Saw = (value) => {
    seen = value;
    return value;
  };
  do {
    try {
      const found = await orLate(probe(saw), deadline);
      if (found === LATE) {
        last += ', and the next one has not returned';
        break;
      }
      if (found !== undefined && found !== false) return found;
      last = `the last call returned ${inspect(found)}`;
    } catch (error) {
      if (!retryErrors) throw error;
      last = `the last call threw ${inspect(error)}`;
    }
    await sleep(everyMs);
  } while (performance.now() < deadline);
  const sight = seen === NOTHING ? '' : `\nit saw ${inspect(seen, { depth: 6 })}`;
  throw new Error(`not true within ${withinMs} ms: ${String(probe)}\n${last}${sight}`);
}

async function orLate<V>(call: Promise<V> | V, deadline: number): Promise<V | typeof LATE> {
  const timer = Promise.withResolvers<typeof LATE>();
  const timeout = setTimeout(() => timer.resolve(LATE), Math.max(0, deadline - performance.now()));
  try {
    return await Promise.race([call, timer.promise]);
  } finally {
    clearTimeout(timeout);
  }
}

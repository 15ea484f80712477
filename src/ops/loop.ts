/** Background loops: rounds with waits between them. */

import type { Clock, Random } from '../core/clock.ts';
import type { Log } from './log.ts';
import type { Rounds } from './rounds.ts';
import type { Wake } from './wake.ts';

export interface Loop {
  name: string;
  everyMs: number;
  /** One round. May return how long to wait instead of `everyMs`. */
  tick(signal: AbortSignal): Promise<number | undefined>;
  /** Runs instead of a round while another instance leads, to keep this one ready to take over. */
  standby?(signal: AbortSignal): Promise<void>;
  /** Ends the wait early. */
  wake?: Wake;
}

export interface LoopContext {
  signal: AbortSignal;
  clock: Clock;
  random: Random;
  log: Log;
  rounds: Rounds;
  /** Called for each failed round. */
  onError?: (loop: string) => void;
}

/** Runs `loop` until `signal` aborts; resolves once the round in progress has ended. Never rejects. */
export async function runLoop(loop: Loop, { signal, clock, random, log, rounds, onError }: LoopContext): Promise<void> {
  let failing = false;
  while (!signal.aborted) {
    rounds.begin(loop.name, loop.everyMs);
    loop.wake?.reset();
    let waitMs = loop.everyMs;
    try {
      waitMs = (await loop.tick(signal)) ?? loop.everyMs;
      if (failing) log.info({ loop: loop.name }, 'loop recovered');
      failing = false;
    } catch (error) {
      // Only the first failure in a row is an error in the log, so that an outage does not flood it.
      if (!signal.aborted) onError?.(loop.name);
      if (!signal.aborted) log[failing ? 'debug' : 'error']({ loop: loop.name, error }, 'loop round failed');
      failing = true;
    }
    // Up to a tenth shorter, at random, so that instances do not run in step.
    const nap = waitMs * (0.9 + 0.1 * random());
    rounds.rest(loop.name, nap);
    await (loop.wake === undefined ? clock.sleep(nap, signal) : loop.wake.sleep(clock, nap, signal));
  }
  rounds.end(loop.name);
}

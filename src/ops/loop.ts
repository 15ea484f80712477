/** Background loops: a round, a wait, a round. */

import type { Clock, Random } from '../core/clock.ts';
import type { Log } from './log.ts';
import type { Rounds } from './rounds.ts';
import type { Wake } from './wake.ts';

export interface Loop {
  name: string;
  everyMs: number;
  /** One round. May answer with how long to wait instead of `everyMs`. */
  tick(signal: AbortSignal): Promise<number | undefined>;
  /** Instead of a round, where another instance has them: whatever keeps this one ready to take over. */
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
}

/** Runs `loop` until `signal` aborts; resolves once the round in progress has ended. Never rejects. */
export async function runLoop(loop: Loop, { signal, clock, random, log, rounds }: LoopContext): Promise<void> {
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
      // One line when it begins to fail, the rest for those who look closer: an outage is not a flood.
      if (!signal.aborted) log[failing ? 'debug' : 'error']({ loop: loop.name, error }, 'loop round failed');
      failing = true;
    }
    // A little early at random, so that instances do not march in step.
    const nap = waitMs * (0.9 + 0.1 * random());
    rounds.rest(loop.name, nap);
    await (loop.wake === undefined ? clock.sleep(nap, signal) : loop.wake.sleep(clock, nap, signal));
  }
  rounds.end(loop.name);
}

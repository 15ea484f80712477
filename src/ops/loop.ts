/** Background loops: a round, a wait, a round. */

import type { Clock, Random } from '../core/clock.ts';
import type { Log } from './log.ts';

export interface Loop {
  name: string;
  everyMs: number;
  /** One round. May answer with how long to wait instead of `everyMs`. */
  tick(signal: AbortSignal): Promise<number | void>;
}

export interface LoopContext {
  signal: AbortSignal;
  clock: Clock;
  random: Random;
  log: Log;
  /** Called as each round begins: the proof of life behind `/health`. */
  onRound?: (name: string) => void;
  /** Ends the wait early when it resolves. Called once per round. */
  wake?: () => Promise<void>;
}

/** Runs `loop` until `signal` aborts; resolves once the round in progress has ended. Never rejects. */
export async function runLoop(loop: Loop, context: LoopContext): Promise<void> {
  const { signal, clock, random, log } = context;
  while (!signal.aborted) {
    const woken = context.wake?.();
    context.onRound?.(loop.name);
    let waitMs = loop.everyMs;
    try {
      waitMs = (await loop.tick(signal)) ?? loop.everyMs;
    } catch (error) {
      if (!signal.aborted) log.error({ loop: loop.name, error }, 'loop round failed');
    }
    const nap = AbortSignal.any([signal]);
    const wakeUp = new AbortController();
    const wait = clock.sleep(waitMs * (0.9 + 0.1 * random()), AbortSignal.any([nap, wakeUp.signal]));
    if (woken === undefined) await wait;
    else await Promise.race([wait, woken]);
    wakeUp.abort();
  }
}

import type { Clock } from '../core/clock.ts';
import { monotonicMs } from './monotonic.ts';

/** The clock of this process. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs,
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const done = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        resolve();
      };
      // setTimeout fires at once for delays beyond 2^31-1 ms.
      const timer = setTimeout(done, Math.min(ms, 2_147_483_647));
      signal.addEventListener('abort', done);
    }),
};

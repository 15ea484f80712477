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
      // setTimeout fires at once for delays beyond 2^31-1 ms, and warns of negative ones, such as a rest of -1e-13.
      const timer = setTimeout(done, Math.min(Math.max(ms, 0), 2_147_483_647));
      signal.addEventListener('abort', done);
    }),
};

/** Hands out work, waiting for it where there is none. */

import type { ClaimedJob } from '../core/job.ts';
import { Wake } from '../ops/wake.ts';
import type { ClaimRequest } from '../store/store.ts';
import type { SchedulerContext } from './context.ts';

/** Hints may be lost where several processes share a database; then this is how late a job can be noticed. */
const SHARED_POLL_MS = 1_000;
const EXCLUSIVE_POLL_MS = 5_000;

/** Answers as soon as there is something, or with nothing after `waitMs` or when `stopped` aborts. */
export async function claim(
  context: SchedulerContext,
  { waitMs, ...request }: ClaimRequest & { waitMs: number },
  { signal, stopped }: { signal: AbortSignal; stopped: AbortSignal },
): Promise<ClaimedJob[]> {
  const { store, clock, telemetry, idle } = context;
  const until = clock.now() + waitMs;
  const wake = new Wake();
  const ended = AbortSignal.any([signal, stopped]);
  const unsubscribe = store.subscribe((hint) => {
    if (hint.topic === 'work') wake.fire();
  });
  try {
    for (;;) {
      if (stopped.aborted) return [];
      wake.reset();
      let jobs = await store.claim(request, signal);
      const left = until - clock.now();
      if (jobs.length === 0 && left > 0) {
        const waitMs = Math.min(left, store.exclusive ? EXCLUSIVE_POLL_MS : SHARED_POLL_MS);
        jobs = await idle.wait(request, wake, () => wake.sleep(clock, waitMs, ended));
        // Whoever hung up while it was handed jobs can still give them back.
        if (jobs.length === 0) signal.throwIfAborted();
      }
      if (jobs.length > 0) telemetry.claimed(jobs);
      if (jobs.length > 0 || left <= 0) return jobs;
    }
  } finally {
    unsubscribe();
  }
}

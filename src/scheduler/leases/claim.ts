/** Hands out work, waiting for it where there is none. */

import type { ClaimedJob } from '../../core/job.ts';
import { Wake } from '../../ops/wake.ts';
import type { ClaimRequest } from '../../store/job-store.ts';
import type { SchedulerContext } from '../context.ts';
import type { PollSlot } from './shared-polling.ts';

/** Answers as soon as there is something, or with nothing after `waitMs` or when `stopped` aborts. */
export async function claim(
  context: SchedulerContext,
  { waitMs, ...request }: ClaimRequest & { waitMs: number },
  { signal, stopped }: { signal: AbortSignal; stopped: AbortSignal },
): Promise<ClaimedJob[]> {
  const { store, clock, telemetry, idle, polls } = context;
  const until = clock.now() + waitMs;
  const wake = new Wake();
  const ended = AbortSignal.any([signal, stopped]);
  const unsubscribe = store.subscribe((hint) => {
    if (hint.topic === 'work') wake.fire();
  });
  let pollSlot: PollSlot | undefined;
  try {
    for (;;) {
      if (stopped.aborted) return [];
      wake.reset();
      let jobs = await store.claim(request, signal);
      const left = until - clock.now();
      if (jobs.length === 0 && left > 0) {
        pollSlot ??= polls.join(request, wake);
        pollSlot.foundNothing();
        jobs = await idle.wait(request, wake, () => wake.sleep(clock, left, ended));
        // Whoever hung up while it was handed jobs can still give them back.
        if (jobs.length === 0) signal.throwIfAborted();
        // Its time is over. The next claim begins with a look.
        if (jobs.length === 0 && !wake.fired) return [];
      }
      if (jobs.length > 0) telemetry.claimed(jobs);
      if (jobs.length > 0 || left <= 0) return jobs;
    }
  } finally {
    pollSlot?.[Symbol.dispose]();
    unsubscribe();
  }
}

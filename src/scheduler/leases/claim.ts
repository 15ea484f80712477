/** Claims jobs for a worker, and waits for some if there are none. */

import type { ClaimedJob } from '../../core/job.ts';
import { Wake } from '../../ops/wake.ts';
import type { ClaimRequest } from '../../store/job-store.ts';
import type { SchedulerContext } from '../context.ts';
import { resolveSecrets } from '../secrets/secrets.ts';
import type { PollSlot } from './shared-polling.ts';
import { withSteps } from './steps.ts';

export interface WorkerClaim extends ClaimRequest {
  waitMs: number;
  /** The worker knows of steps, and may get jobs that have some. */
  runsSteps?: boolean;
}

/** Answers as soon as there are jobs, or with an empty list after `waitMs`, when `stopped` aborts, or when the worker ends its wait. */
export async function claim(
  context: SchedulerContext,
  { waitMs, runsSteps = false, ...request }: WorkerClaim,
  { signal, stopped }: { signal: AbortSignal; stopped: AbortSignal },
): Promise<ClaimedJob[]> {
  const { store, clock, telemetry, idle, polls, claimWaits } = context;
  let until: number | undefined;
  const wake = new Wake();
  using own = waitMs > 0 ? claimWaits.enter(request) : undefined;
  const ended = own === undefined ? signal : AbortSignal.any([signal, stopped, own.signal]);
  const unsubscribe = store.subscribe((hint) => {
    if (hint.topic === 'work') wake.fire();
  });
  let pollSlot: PollSlot | undefined;
  try {
    for (;;) {
      if (stopped.aborted) return [];
      wake.reset();
      let jobs = await store.claim(request, signal);
      let left = 0;
      if (jobs.length === 0 && waitMs > 0) {
        const now = clock.monotonicMs();
        until ??= now + waitMs;
        left = until - now;
      }
      if (left > 0) {
        pollSlot ??= polls.join(request, wake);
        pollSlot.foundNothing();
        jobs = await idle.wait(request, wake, () => wake.sleep(clock, left, ended));
        // A caller that hung up while it was given jobs can still return them.
        if (jobs.length === 0) signal.throwIfAborted();
        // The wait is over. The next claim begins by reading the store.
        if (jobs.length === 0 && !wake.fired) return [];
      }
      if (jobs.length > 0) telemetry.claimed(jobs, request.workerId);
      if (jobs.length === 0 && left <= 0) return jobs;
      const { workerId } = request;
      const able = await withSteps(context, jobs, { workerId, runsSteps, signal });
      const ready = await resolveSecrets(context, able, { workerId, signal });
      if (ready.length > 0) return ready;
    }
  } finally {
    pollSlot?.[Symbol.dispose]();
    unsubscribe();
  }
}

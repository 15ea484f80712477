/** Waits for a job to end without missing the end. */

import { isTerminal, type Job } from '../../core/job.ts';
import { Wake } from '../../ops/wake.ts';
import type { SchedulerContext } from '../context.ts';
import { jobNotFound } from './change-job.ts';

/** The end of a job at another instance may arrive without a hint. */
const POLL_MS = 500;

/** Returns the job once it is terminal, or in its current state after `timeoutMs` or when `stopped` aborts. */
export async function wait(
  context: SchedulerContext,
  { id, timeoutMs }: { id: number; timeoutMs: number },
  { signal, stopped }: { signal: AbortSignal; stopped: AbortSignal },
): Promise<Job> {
  const { store, clock } = context;
  const until = clock.monotonicMs() + timeoutMs;
  const wake = new Wake();
  const unsubscribe = store.subscribe((hint) => {
    if (hint.topic === 'jobs' && hint.ids.includes(id)) wake.fire();
  });
  const ended = AbortSignal.any([signal, stopped]);
  try {
    for (;;) {
      wake.reset();
      const [job] = await store.read([id], signal);
      if (job === undefined) throw jobNotFound(id);
      const left = until - clock.monotonicMs();
      if (isTerminal(job.status) || left <= 0 || stopped.aborted) return job;
      await wake.sleep(clock, Math.min(left, POLL_MS), ended);
      signal.throwIfAborted();
    }
  } finally {
    unsubscribe();
  }
}

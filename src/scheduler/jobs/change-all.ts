/** Cancels or retries all jobs that match a filter, before it returns. */

import type { Job } from '../../core/job.ts';
import type { JobFilter } from '../../core/job-filter.ts';
import type { SchedulerContext } from '../context.ts';
import { decide } from './decide.ts';

const BATCH = 500;

interface ChangeAll {
  action: 'cancel' | 'retry';
  filter: JobFilter;
  /** Selects jobs to leave alone. */
  except?: (job: Job) => boolean;
}

/**
 * Returns the number of jobs changed. Parents are changed before their children, so that a retried child waits for its
 * retried parent. Cancelling repeats until a round changes nothing, to find jobs that appear meanwhile.
 */
export async function changeAll(context: SchedulerContext, request: ChangeAll, signal: AbortSignal): Promise<number> {
  const { action } = request;
  let total = 0;
  for (;;) {
    const ids = await matching(context, request, signal);
    let changed = 0;
    for (let start = 0; start < ids.length; start += BATCH) {
      const decisions = await decide(context, ids.slice(start, start + BATCH), () => ({ type: action }), signal);
      changed += decisions.filter(({ type }) => type === 'changed').length;
    }
    total += changed;
    if (changed === 0 || action === 'retry') return total;
  }
}

/** Returns ids, oldest first. */
async function matching(
  { store }: SchedulerContext,
  { filter, except = () => false }: ChangeAll,
  signal: AbortSignal,
): Promise<number[]> {
  const ids: number[] = [];
  let before: number | null = null;
  for (;;) {
    const jobs = await store.list(filter, { before, limit: BATCH }, signal);
    ids.push(...jobs.filter((job) => !except(job)).map(({ id }) => id));
    before = jobs.at(-1)?.id ?? null;
    if (jobs.length < BATCH) return ids.reverse();
  }
}

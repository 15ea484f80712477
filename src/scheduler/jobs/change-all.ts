/** Cancels or retries all jobs that match a filter, before it returns. */

import type { Job } from '../../core/job.ts';
import type { JobFilter } from '../../core/job-filter.ts';
import type { SchedulerContext } from '../context.ts';
import { decide } from './decide.ts';
import { retriedTogether } from './retry-gangs.ts';

const BATCH = 500;

interface ChangeAll {
  action: 'cancel' | 'retry';
  filter: JobFilter;
  /** Selects jobs to leave alone. */
  except?: (job: Job) => boolean;
}

/**
 * Returns the number of jobs changed. Parents are changed before their children, so that a retried child waits for its
 * retried parent. Cancelling repeats until a round changes nothing, to find jobs that appear meanwhile. Throws `illegal_transition` before
 * anything changes if a gang cannot be retried.
 */
export async function changeAll(context: SchedulerContext, request: ChangeAll, signal: AbortSignal): Promise<number> {
  const { action } = request;
  let total = 0;
  for (;;) {
    const jobs = await matching(context, request, signal);
    let changed = 0;
    for (const ids of await batchesOf(context, action, jobs, signal)) {
      const decisions = await decide(context, ids, () => ({ type: action }), signal);
      changed += decisions.filter(({ type }) => type === 'changed').length;
    }
    total += changed;
    if (changed === 0 || action === 'retry') return total;
  }
}

/** What is changed in one transaction. The members of a gang are retried together. */
async function batchesOf(
  context: SchedulerContext,
  action: ChangeAll['action'],
  jobs: readonly Job[],
  signal: AbortSignal,
): Promise<number[][]> {
  const { single, gangs } =
    action === 'retry'
      ? await retriedTogether(context, jobs, { lenient: false }, signal)
      : { single: jobs.map(({ id }) => id), gangs: [] };
  const batches: number[][] = [];
  for (let start = 0; start < single.length; start += BATCH) batches.push(single.slice(start, start + BATCH));
  return [...batches, ...gangs];
}

/** Oldest first. */
async function matching(
  { store }: SchedulerContext,
  { filter, except = () => false }: ChangeAll,
  signal: AbortSignal,
): Promise<Job[]> {
  const found: Job[] = [];
  let before: number | null = null;
  for (;;) {
    const jobs = await store.list(filter, { before, limit: BATCH }, signal);
    found.push(...jobs.filter((job) => !except(job)));
    before = jobs.at(-1)?.id ?? null;
    if (jobs.length < BATCH) return found.reverse();
  }
}

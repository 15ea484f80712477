/** Cancels or retries everything that matches, now. */

import type { JobFilter } from '../../core/job-filter.ts';
import type { SchedulerContext } from '../context.ts';
import { decide } from './decide.ts';

const BATCH = 500;

export interface ChangeAll {
  action: 'cancel' | 'retry';
  filter: JobFilter;
  /** Left as they are. */
  except?: ReadonlySet<number>;
}

/**
 * Answers with how many jobs it changed. Parents go before their children, so that a retried child waits for its retried
 * parent. What appears while jobs are being cancelled is met by another round, until one changes nothing.
 */
export async function changeAll(context: SchedulerContext, request: ChangeAll, signal: AbortSignal): Promise<number> {
  const { action, except } = request;
  let total = 0;
  for (;;) {
    const ids = (await matching(context, request.filter, signal)).filter((id) => !except?.has(id));
    let changed = 0;
    for (let start = 0; start < ids.length; start += BATCH) {
      const decisions = await decide(context, ids.slice(start, start + BATCH), () => ({ type: action }), signal);
      changed += decisions.filter(({ type }) => type === 'changed').length;
    }
    total += changed;
    if (changed === 0 || action === 'retry') return total;
  }
}

/** Ids, oldest first. */
async function matching({ store }: SchedulerContext, filter: JobFilter, signal: AbortSignal): Promise<number[]> {
  const ids: number[] = [];
  let before: number | null = null;
  for (;;) {
    const jobs = await store.list(filter, { before, limit: BATCH }, signal);
    ids.push(...jobs.map(({ id }) => id));
    before = jobs.at(-1)?.id ?? null;
    if (jobs.length < BATCH) return ids.reverse();
  }
}

import type { Loop } from '../../ops/loop.ts';
import type { Retention } from '../../store/duty-store.ts';
import { SESSION_IDLE_MS } from '../access/sessions.ts';
import type { SchedulerContext } from '../context.ts';

/** Jobs deleted in one transaction: enough to keep up with thousands of jobs a second. */
const SHARED_BATCH = 5_000;
/** On a store with one writer, heartbeats and claims wait for the transaction. */
const EXCLUSIVE_BATCH = 500;
const PAUSE_MS = 50;
/** How long tokens that are no longer valid are listed. */
const KEEP_TOKENS_MS = 30 * 86_400_000;

interface Kept {
  retention: Retention;
  ledgerMs: number;
  auditMs: number;
}

/**
 * The duty that deletes what exceeds its retention, in batches with pauses between them. A batch that fails, as one of jobs with large
 * logs may take longer than a statement may, is halved; after a success the next one is larger again.
 */
export function pruner({ store }: Pick<SchedulerContext, 'store'>, { retention, ledgerMs, auditMs }: Kept): Loop {
  const largest = store.exclusive ? EXCLUSIVE_BATCH : SHARED_BATCH;
  let batch = largest;
  return {
    name: 'pruner',
    everyMs: 60_000,
    async tick(signal) {
      const limit = batch;
      batch = Math.ceil(limit / 2);
      const jobs = await store.prune(retention, limit, signal);
      const ticks = await store.pruneTicks(ledgerMs, limit, signal);
      const entries = await store.pruneAudit(auditMs, limit, signal);
      batch = Math.min(largest, limit * 2);
      await store.pruneSessions(SESSION_IDLE_MS, signal);
      await store.pruneTokens(KEEP_TOKENS_MS, signal);
      return Math.max(jobs, ticks, entries) >= limit ? PAUSE_MS : undefined;
    },
  };
}

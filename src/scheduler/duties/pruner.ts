import type { Loop } from '../../ops/loop.ts';
import type { Retention } from '../../store/duty-store.ts';
import { SESSION_IDLE_MS } from '../access/sessions.ts';
import type { SchedulerContext } from '../context.ts';

const BATCH = 500;
/** How long tokens that are no longer valid are listed. */
const KEEP_TOKENS_MS = 30 * 86_400_000;

interface Kept {
  retention: Retention;
  ledgerMs: number;
  auditMs: number;
}

/** The duty that deletes what exceeds its retention, in small batches with pauses between them. */
export function pruner({ store }: SchedulerContext, { retention, ledgerMs, auditMs }: Kept): Loop {
  return {
    name: 'pruner',
    everyMs: 60_000,
    async tick(signal) {
      const jobs = await store.prune(retention, BATCH, signal);
      const ticks = await store.pruneTicks(ledgerMs, BATCH, signal);
      const entries = await store.pruneAudit(auditMs, BATCH, signal);
      await store.pruneSessions(SESSION_IDLE_MS, signal);
      await store.pruneTokens(KEEP_TOKENS_MS, signal);
      return Math.max(jobs, ticks, entries) >= BATCH ? 50 : undefined;
    },
  };
}

import type { Loop } from '../../ops/loop.ts';
import type { Retention } from '../../store/duty-store.ts';
import type { SchedulerContext } from '../context.ts';

const BATCH = 500;

/** Deletes what has been kept long enough, in small batches with room between them for others. */
export function pruner({ store }: SchedulerContext, retention: Retention, ledgerMs: number): Loop {
  return {
    name: 'pruner',
    everyMs: 60_000,
    async tick(signal) {
      const jobs = await store.prune(retention, BATCH, signal);
      const ticks = await store.pruneTicks(ledgerMs, BATCH, signal);
      return Math.max(jobs, ticks) >= BATCH ? 50 : undefined;
    },
  };
}

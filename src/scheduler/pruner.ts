import type { Loop } from '../ops/loop.ts';
import type { Retention } from '../store/store.ts';
import type { SchedulerContext } from './context.ts';

const BATCH = 500;

/** Deletes what has been kept long enough, in small batches with room between them for others. */
export function pruner(context: SchedulerContext, retention: Retention): Loop {
  return {
    name: 'pruner',
    everyMs: 60_000,
    async tick(signal) {
      const count = await context.store.prune(retention, BATCH, signal);
      return count === BATCH ? 50 : undefined;
    },
  };
}

/** The duties that make due jobs claimable and fail those that exceeded their start timeout. */

import type { Loop } from '../../ops/loop.ts';
import type { Wake } from '../../ops/wake.ts';
import type { SchedulerContext } from '../context.ts';
import { decide } from '../jobs/decide.ts';

const BATCH = 1_000;
/** A job scheduled by another process may be due earlier than the next one known here. */
const SHARED_POLL_MS = 1_000;
const EXCLUSIVE_POLL_MS = 10_000;
/** Parkings that a round of the expirer looks at: 5 ms on SQLite, 10 to 16 ms on PostgreSQL, if all are full. */
const PARKINGS = 2_000;

/** Sleeps until the next job is due; woken when that instant moves closer. */
export function promoter(context: SchedulerContext, wake: Wake): Loop & Disposable {
  const { store, clock } = context;
  const pollMs = store.exclusive ? EXCLUSIVE_POLL_MS : SHARED_POLL_MS;
  const unsubscribe = store.subscribe((hint) => {
    if (hint.topic === 'due') wake.fire();
  });
  return {
    name: 'promoter',
    everyMs: pollMs,
    wake,
    async tick(signal) {
      const { count, nextDueAt } = await store.promote(BATCH, signal);
      if (count === BATCH) return 0;
      if (nextDueAt === null) return undefined;
      const now = store.exclusive ? clock.now() : await store.now(signal);
      return Math.min(pollMs, Math.max(0, nextDueAt - now) + 1);
    },
    [Symbol.dispose]: unsubscribe,
  };
}

/**
 * Looks at jobs that wait: fails those that have waited longer than their `start_timeout`, skips those that do not wait for a full
 * limit, and opens limits that jobs wait for although they have room.
 */
export function expirer(context: SchedulerContext): Loop {
  const heal = healer(context);
  return {
    name: 'expirer',
    everyMs: 2_000,
    async tick(signal) {
      const late = await context.store.findExpired(BATCH, signal);
      const expired = new Map(late.map((job) => [job.id, job.expiresAt]));
      const eventFor = (job: { id: number; expiresAt: number | null }) =>
        job.expiresAt !== null && job.expiresAt === expired.get(job.id) ? ({ type: 'expire' } as const) : undefined;
      await decide(context, [...expired.keys()], eventFor, signal);
      const unwanted = await context.store.findSkippable(BATCH, signal);
      await decide(
        context,
        unwanted.map(({ id }) => id),
        () => ({ type: 'skip' }) as const,
        signal,
      );
      await heal(signal);
      return late.length === BATCH || unwanted.length === BATCH ? 0 : undefined;
    },
  };
}

/** Each round looks at the next parkings. */
function healer({ store, log, telemetry: { metrics } }: SchedulerContext): (signal: AbortSignal) => Promise<void> {
  let after = 0;
  return async (signal) => {
    const { meters, next } = await store.healParkings({ after, limit: PARKINGS }, signal);
    after = next ?? 0;
    if (meters.length === 0) return;
    metrics.parkingsHealed.add({}, meters.length);
    log.warn(
      { keys: meters.slice(0, 10), count: meters.length },
      'opened limits that jobs waited for, although no job held them',
    );
  };
}

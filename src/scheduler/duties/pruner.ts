import { LANE_KNOWN_MS, type LaneMark } from '../../core/lane.ts';
import type { Loop } from '../../ops/loop.ts';
import { type Retention, SWEEPABLES } from '../../store/duty-store.ts';
import { SESSION_IDLE_MS } from '../access/sessions.ts';
import type { SchedulerContext } from '../context.ts';

/** Rows deleted in one transaction: enough to keep up with thousands of jobs a second. */
const SHARED_BATCH = 5_000;
/** On a store with one writer, heartbeats and claims wait for the transaction. */
const EXCLUSIVE_BATCH = 500;
const EVERY_MS = 60_000;
const PAUSE_MS = 50;
/** How long tokens that are no longer valid are listed. */
const KEEP_TOKENS_MS = 30 * 86_400_000;

interface Kept {
  retention: Retention;
  ledgerMs: number;
  auditMs: number;
}

/** One kind of what is deleted. */
interface Part {
  name: string;
  /** Deletes up to `limit` and returns how many. */
  prune: (limit: number, signal: AbortSignal) => Promise<number>;
  /** How many are deleted at once. */
  batch: number;
  /** When it is tried again after it failed, by the monotonic clock. */
  retryAt: number;
}

/** Marks lanes, and deletes those whose marks stand when no process can insert jobs by what it knew before. */
function unusedLanes({ store, clock }: Pick<SchedulerContext, 'store' | 'clock'>): Part['prune'] {
  let marks: readonly LaneMark[] = [];
  let markedAt = Number.NEGATIVE_INFINITY;
  return async (limit, signal) => {
    if (clock.monotonicMs() - markedAt < 2 * LANE_KNOWN_MS) return 0;
    const due = marks;
    marks = [];
    const deleted = due.length === 0 ? 0 : await store.deleteLanes(due, signal);
    marks = await store.markLanes(limit, signal);
    markedAt = clock.monotonicMs();
    return deleted;
  };
}

/**
 * The duty that deletes what exceeds its retention, in batches with pauses between them. A part that fails keeps none of the others from
 * their rounds. Its batch is halved, as deleting jobs with large logs may take longer than a statement may; after a success the
 * next one is larger again.
 */
export function pruner(
  { store, clock, log, telemetry: { metrics } }: Pick<SchedulerContext, 'store' | 'clock' | 'log' | 'telemetry'>,
  { retention, ledgerMs, auditMs }: Kept,
): Loop {
  const largest = store.exclusive ? EXCLUSIVE_BATCH : SHARED_BATCH;
  const part = (name: string, prune: Part['prune']): Part => ({ name, prune, batch: largest, retryAt: -Infinity });
  const all = async (pruned: Promise<unknown>) => (await pruned, 0);
  const parts = [
    part('job', (limit, signal) => store.prune(retention, limit, signal)),
    ...SWEEPABLES.map((what) => part(what, (limit, signal) => store.sweep(what, retention, limit, signal))),
    part('tick', (limit, signal) => store.pruneTicks(ledgerMs, limit, signal)),
    part('audit', (limit, signal) => store.pruneAudit(auditMs, limit, signal)),
    part('session', (_, signal) => all(store.pruneSessions(SESSION_IDLE_MS, signal))),
    part('lane', unusedLanes({ store, clock })),
    part('token', (_, signal) => all(store.pruneTokens(KEEP_TOKENS_MS, signal))),
  ];
  return {
    name: 'pruner',
    everyMs: EVERY_MS,
    async tick(signal) {
      const due = parts.filter(({ retryAt }) => retryAt <= clock.monotonicMs());
      const failures: { part: string; error: unknown }[] = [];
      let more = false;
      for (const each of due) {
        const limit = each.batch;
        try {
          if ((await each.prune(limit, signal)) >= limit) more = true;
          each.batch = Math.min(largest, limit * 2);
        } catch (error) {
          signal.throwIfAborted();
          each.batch = Math.ceil(limit / 2);
          each.retryAt = clock.monotonicMs() + EVERY_MS / 2;
          failures.push({ part: each.name, error });
        }
      }
      // The store is away, or another instance leads.
      if (failures.length > 0 && failures.length === due.length) throw failures[0]?.error;
      for (const failure of failures) {
        metrics.loopErrors.add({ loop: `pruner: ${failure.part}` });
        log.error(failure, 'retention failed; the next round tries a smaller batch');
      }
      return more ? PAUSE_MS : undefined;
    },
  };
}

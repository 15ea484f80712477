/** Takes back what silent workers hold. */

import { isWorkronError } from '../../core/error.ts';
import type { Job } from '../../core/job.ts';
import type { Loop } from '../../ops/loop.ts';
import type { LostJob } from '../../store/duty-store.ts';
import type { SchedulerContext } from '../context.ts';
import { decide } from '../jobs/decide.ts';

const BATCH = 1_000;
/** Two looks at a free lock must be this far apart to mean that its holder died. */
export const LOOK_EVERY_MS = 5_000;

export interface ReaperSettings {
  everyMs: number;
  leaseMs: number;
  /** Workers and instances that have been offline for so long are forgotten. */
  forgetAfterMs: number;
}

/**
 * Takes nothing back until it has seen the store without a break for one full lease: after its own start, an outage or a
 * long sleep, the workers get the time to report before they are taken for dead.
 */
export function reaper(context: SchedulerContext, settings: ReaperSettings): Loop {
  const { store, clock, log } = context;
  // A loop that was kept from its rounds for half a lease may have kept heartbeats waiting too.
  const longestGapMs = 1.5 * settings.everyMs + Math.min(LOOK_EVERY_MS, settings.leaseMs / 2);
  let watchingSince: number | null = null;
  let lastRoundAt: number | null = null;
  /** Answers with how long the store has been seen. */
  async function watch(signal: AbortSignal): Promise<number> {
    const now = clock.now();
    if (lastRoundAt !== null && now - lastRoundAt > longestGapMs) watchingSince = null;
    lastRoundAt = now;
    try {
      await store.now(signal);
    } catch (error) {
      watchingSince = null;
      throw error;
    }
    watchingSince ??= now;
    return now - watchingSince;
  }
  return {
    name: 'reaper',
    everyMs: settings.everyMs,
    async tick(signal) {
      const watchedMs = await watch(signal);
      if (watchedMs < settings.leaseMs) return Math.min(settings.everyMs, settings.leaseMs - watchedMs + 50);
      try {
        await takeBack(context, [], signal);
        const offline = await store.retireWorkers(settings.forgetAfterMs, signal);
        if (offline.length > 0) log.warn({ workers: offline }, 'workers went silent and are offline');
        await store.forgetInstances(settings.forgetAfterMs, signal);
      } catch (error) {
        if (!isWorkronError(error, 'leadership_lost')) watchingSince = null;
        throw error;
      }
      return undefined;
    },
    /** Whoever takes over has watched all along, and need not wait for another lease. */
    async standby(signal) {
      await watch(signal);
    },
  };
}

/**
 * Notices dead processes that were attached to the database: their session lock is free. That is only a hint (a restarted
 * server frees every lock), so it counts when it is seen twice, with no sign of life between, on a server that was up
 * all the while.
 */
export function lockWatcher(context: SchedulerContext): Loop {
  const { store, log } = context;
  let before = new Map<number, number>();
  return {
    name: 'lock-watcher',
    everyMs: LOOK_EVERY_MS,
    async tick(signal) {
      const { workers, serverUpMs } = await store.findUnlocked(signal);
      const dead =
        serverUpMs > 2 * LOOK_EVERY_MS
          ? workers.filter(({ id, seenAt }) => before.get(id) === seenAt).map(({ id }) => id)
          : [];
      before = new Map(workers.map(({ id, seenAt }) => [id, seenAt]));
      if (dead.length === 0) return;
      log.warn({ workers: dead }, 'workers lost their session lock and stayed silent: taken for dead');
      await takeBack(context, dead, signal);
    },
  };
}

/**
 * On a store with one owner, what an earlier owner's own workers held is free at once: they died with it. The caller has
 * made sure that none of their commands is left.
 */
export async function reclaimFromPreviousRun(context: SchedulerContext, signal: AbortSignal): Promise<void> {
  if (!context.store.exclusive) return;
  const workers = await context.store.workers(signal);
  const gone = workers.filter(
    ({ attachment, instanceId }) => attachment === 'local' && instanceId !== context.instanceId,
  );
  const dead = gone.map(({ id }) => id);
  if (dead.length > 0) await takeBack(context, dead, signal);
  for (const { id, state } of gone) if (state !== 'offline') await context.store.leaveWorker(id, signal);
}

/** Jobs whose lease is over; with `dead`, only what those workers hold. */
async function takeBack(context: SchedulerContext, dead: readonly number[], signal: AbortSignal): Promise<void> {
  for (;;) {
    const found = await context.store.findLost({ limit: BATCH, dead }, signal);
    const lost =
      dead.length === 0 ? found : found.filter(({ job }) => job.workerId !== null && dead.includes(job.workerId));
    const seen = new Map(lost.map((entry) => [entry.job.id, entry]));
    const decisions = await decide(context, [...seen.keys()], (job) => lossOf(job, seen.get(job.id)), signal);
    const taken = decisions.filter(({ type }) => type === 'changed').length;
    if (taken > 0)
      context.log.warn({ jobs: taken, ids: [...seen.keys()].slice(0, 20) }, 'took jobs back from silent workers');
    if (found.length < BATCH || taken === 0) return;
  }
}

/** A loss of exactly the attempt that was seen; anything later is somebody else's. */
function lossOf(job: Job, lost: LostJob | undefined): { type: 'lose'; workerSeenAt: number } | undefined {
  if (lost === undefined || job.status !== 'running') return undefined;
  if (job.attempt !== lost.job.attempt || job.workerId !== lost.job.workerId) return undefined;
  // Its worker has reported meanwhile.
  if (job.lastHeartbeatAt !== null && job.lastHeartbeatAt !== lost.job.lastHeartbeatAt) return undefined;
  return { type: 'lose', workerSeenAt: lost.workerSeenAt };
}

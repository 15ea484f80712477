/** The duties that reclaim the jobs of lost workers. */

import { isWorkronError } from '../../core/error.ts';
import type { Job } from '../../core/job.ts';
import type { Loop } from '../../ops/loop.ts';
import type { LostJob } from '../../store/duty-store.ts';
import type { SchedulerContext } from '../context.ts';
import { decide } from '../jobs/decide.ts';

const BATCH = 1_000;
/** A session lock must be free at two checks this far apart before its holder counts as dead. */
export const CHECK_EVERY_MS = 5_000;

export interface ReaperSettings {
  everyMs: number;
  leaseMs: number;
  /** Workers and instances are deleted after being offline this long. */
  forgetAfterMs: number;
}

/**
 * Reclaims nothing until it has reached the store for one full lease without a gap: after its own start, an outage or a
 * suspend, workers get the time to send a heartbeat before they count as lost.
 */
export function reaper(context: SchedulerContext, settings: ReaperSettings): Loop {
  const { store, clock, log } = context;
  // If this loop could not run for half a lease, heartbeats may not have been processed either.
  const longestGapMs = 1.5 * settings.everyMs + Math.min(CHECK_EVERY_MS, settings.leaseMs / 2);
  let watchingSince: number | null = null;
  let lastRoundAt: number | null = null;
  /** Returns how long the store has been reachable. */
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
        await reclaim(context, [], signal);
        const offline = await store.retireWorkers(settings.forgetAfterMs, signal);
        if (offline.length > 0) log.warn({ workers: offline }, 'workers sent no heartbeat and are offline');
        await store.forgetInstances(settings.forgetAfterMs, signal);
      } catch (error) {
        if (!isWorkronError(error, 'leadership_lost')) watchingSince = null;
        throw error;
      }
      return undefined;
    },
    /** The instance that takes over has been watching too, and need not wait for another lease. */
    async standby(signal) {
      await watch(signal);
    },
  };
}

/**
 * Finds dead processes that were attached to the database by their free session lock. A restarted server frees every
 * lock, so a worker counts as dead only if its lock is free at two checks, without a heartbeat in between, on a server
 * that was up during both.
 */
export function lockWatcher(context: SchedulerContext): Loop {
  const { store, log } = context;
  let before = new Map<number, number>();
  return {
    name: 'lock-watcher',
    everyMs: CHECK_EVERY_MS,
    async tick(signal) {
      const { workers, serverUpMs } = await store.findUnlocked(signal);
      const dead =
        serverUpMs > 2 * CHECK_EVERY_MS
          ? workers.filter(({ id, seenAt }) => before.get(id) === seenAt).map(({ id }) => id)
          : [];
      before = new Map(workers.map(({ id, seenAt }) => [id, seenAt]));
      if (dead.length === 0) return;
      log.warn({ workers: dead }, 'workers lost their session lock and sent no heartbeat; reclaiming their jobs');
      await reclaim(context, dead, signal);
    },
  };
}

/**
 * On a store with one owner, reclaims what the local workers of the previous owner held: they died with it. The caller
 * has made sure that none of their commands still runs.
 */
export async function reclaimFromPreviousRun(context: SchedulerContext, signal: AbortSignal): Promise<void> {
  if (!context.store.exclusive) return;
  const workers = await context.store.workers(signal);
  const gone = workers.filter(
    ({ attachment, instanceId }) => attachment === 'local' && instanceId !== context.instanceId,
  );
  const dead = gone.map(({ id }) => id);
  if (dead.length > 0) await reclaim(context, dead, signal);
  for (const { id, state } of gone) if (state !== 'offline') await context.store.leaveWorker(id, signal);
}

/** Reclaims jobs whose lease has expired or, if `dead` is not empty, all jobs of those workers. */
async function reclaim(context: SchedulerContext, dead: readonly number[], signal: AbortSignal): Promise<void> {
  for (;;) {
    const found = await context.store.findLost({ limit: BATCH, dead }, signal);
    const lost =
      dead.length === 0 ? found : found.filter(({ job }) => job.workerId !== null && dead.includes(job.workerId));
    const seen = new Map(lost.map((entry) => [entry.job.id, entry]));
    const decisions = await decide(context, [...seen.keys()], (job) => lossOf(job, seen.get(job.id)), signal);
    const reclaimed = decisions.filter(({ type }) => type === 'changed').length;
    if (reclaimed > 0)
      context.log.warn({ jobs: reclaimed, ids: [...seen.keys()].slice(0, 20) }, 'reclaimed jobs of lost workers');
    if (found.length < BATCH || reclaimed === 0) return;
  }
}

/** The loss of exactly the attempt that was found; a later attempt is not lost. */
function lossOf(job: Job, lost: LostJob | undefined): { type: 'lose'; workerSeenAt: number } | undefined {
  if (lost === undefined || job.status !== 'running') return undefined;
  if (job.attempt !== lost.job.attempt || job.workerId !== lost.job.workerId) return undefined;
  // Its worker has sent a heartbeat meanwhile.
  if (job.lastHeartbeatAt !== null && job.lastHeartbeatAt !== lost.job.lastHeartbeatAt) return undefined;
  return { type: 'lose', workerSeenAt: lost.workerSeenAt };
}

/** The duties that reclaim the jobs of lost workers. */

import { isWorkronError } from '../../core/error.ts';
import type { Loop } from '../../ops/loop.ts';
import type { SchedulerContext } from '../context.ts';
import { reclaim } from '../leases/reclaim.ts';
import { LeaseWatch } from './lease-watch.ts';

/** A session lock must be free at two checks this far apart before its holder counts as dead. */
const CHECK_EVERY_MS = 5_000;
/** For two checks before that: processes need time to take their locks again on a server that was restarted. */
const KNOWN_SERVER_MS = 1.8 * CHECK_EVERY_MS;
/** A check is compared only with one this much older. The first check after a change of leader may come at any time. */
const APART_MS = 0.9 * CHECK_EVERY_MS;

/** A round for the end of a lease comes this much later: a timer may be early by a little. */
const AFTER_MS = 50;

interface ReaperSettings {
  everyMs: number;
  leaseMs: number;
  /** Workers and instances are deleted after being offline this long. */
  forgetAfterMs: number;
}

/**
 * Reclaims the jobs of leases that it has seen without a renewal for their whole length, while it reached the store without
 * a gap: after its own start, an outage or a suspend, workers get the time to send a heartbeat before they count as lost.
 */
export function reaper(context: SchedulerContext, settings: ReaperSettings): Loop {
  const { store, log } = context;
  const { everyMs, leaseMs, forgetAfterMs } = settings;
  // If this loop could not run for half a lease, heartbeats may not have been processed either.
  const maxGapMs = 1.5 * everyMs + Math.min(CHECK_EVERY_MS, leaseMs / 2);
  const watch = new LeaseWatch(context, maxGapMs);
  return {
    name: 'reaper',
    everyMs,
    async tick(signal) {
      const { over: silent, nextMs } = await watch.look(signal);
      try {
        await reclaim(context, { silent }, signal);
        const offline = await store.retireWorkers({ forgetAfterMs, silent }, signal);
        if (offline.length > 0) log.warn({ workers: offline }, 'workers sent no heartbeat and are offline');
        await store.forgetInstances(forgetAfterMs, signal);
      } catch (error) {
        if (!isWorkronError(error, 'leadership_lost')) watch.reset();
        throw error;
      }
      return nextMs < everyMs ? nextMs + AFTER_MS : undefined;
    },
    /** The instance that takes over has been watching too, and need not wait for another lease. */
    async standby(signal) {
      await watch.look(signal);
    },
  };
}

/**
 * Finds dead processes that were attached to the database by their free session lock. A restarted server frees every
 * lock, so a worker counts as dead only if its lock is free at two checks 5 s apart, without a heartbeat in between, on a
 * server that this instance has known for longer. The server's own clock may have been set since it started.
 */
export function lockWatcher(context: SchedulerContext): Loop {
  const { store, clock, log } = context;
  let before: { at: number; seenAt: ReadonlyMap<number, number> } | undefined;
  let server: { startedAt: number; knownSince: number } | undefined;
  /** Returns the workers that are dead. */
  async function look(signal: AbortSignal): Promise<number[]> {
    const { workers, serverStartedAt: startedAt } = await store.findUnlocked(signal);
    const now = clock.monotonicMs();
    if (server?.startedAt !== startedAt) server = { startedAt, knownSince: now };
    if (before !== undefined && now - before.at < APART_MS) return [];
    const earlier = before?.seenAt;
    before = { at: now, seenAt: new Map(workers.map(({ id, seenAt }) => [id, seenAt])) };
    if (now - server.knownSince < KNOWN_SERVER_MS) return [];
    return workers.filter(({ id, seenAt }) => earlier?.get(id) === seenAt).map(({ id }) => id);
  }
  return {
    name: 'lock-watcher',
    everyMs: CHECK_EVERY_MS,
    async tick(signal) {
      const dead = await look(signal);
      if (dead.length === 0) return;
      log.warn({ workers: dead }, 'workers lost their session lock and sent no heartbeat; reclaiming their jobs');
      await reclaim(context, { dead }, signal);
    },
    /** The instance that takes over knows the server already. */
    async standby(signal) {
      await look(signal);
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
  if (dead.length > 0) await reclaim(context, { dead }, signal);
  for (const { id, state } of gone) if (state !== 'offline') await context.store.leaveWorker(id, signal);
}

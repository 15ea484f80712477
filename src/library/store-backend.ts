import { hostname } from 'node:os';
import type { Clock } from '../core/clock.ts';
import type { Mounted } from '../http/mount.ts';
import { systemClock } from '../ops/clock.ts';
import type { Log } from '../ops/log.ts';
import { Metrics } from '../ops/metrics.ts';
import { SETTINGS } from '../ops/settings/settings.ts';
import { Wake } from '../ops/wake.ts';
import { createScheduler } from '../scheduler/create-scheduler.ts';
import { runDuties, runPresence, runStatistics } from '../scheduler/duties/duties.ts';
import { reclaimFromPreviousRun } from '../scheduler/duties/reaper.ts';
import { ticker } from '../scheduler/duties/ticker.ts';
import { NO_TARGETS, type NotifyContext } from '../scheduler/notify/targets.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import type { Store } from '../store/store.ts';
import type { Backend } from './backend.ts';
import { Completions } from './completions.ts';
import { newInstanceId } from './instance-id.ts';
import { localSource } from './local-source.ts';
import { PendingWaits, stopped } from './pending-waits.ts';
import { schedulerEngine } from './scheduler-engine.ts';
import { version } from './version.ts';

/** With what the test kit drives by hand. */
export interface StoreBackend extends Backend {
  readonly scheduler: Scheduler;
  readonly store: Store;
  /** Judges every tick that is due. */
  tickSchedules(signal: AbortSignal): Promise<void>;
}

export interface StoreBackendOptions {
  log: Log;
  leaseMs: number;
  heartbeatMs: number;
  /** Nobody in particular is told of anything unless told otherwise. */
  notify?: NotifyContext;
  /** The process's own unless told otherwise. */
  clock?: Clock;
}

/** Workers that have been offline for a day are forgotten. */
const FORGET_WORKERS_AFTER_MS = 86_400_000;

/** Takes the store over: it is closed with the home. */
export async function openStoreBackend(store: Store, options: StoreBackendOptions): Promise<StoreBackend> {
  const { log, leaseMs, heartbeatMs, clock = systemClock, notify = NO_TARGETS } = options;
  const instanceId = newInstanceId();
  const metrics = new Metrics(version, instanceId);
  const parts = createScheduler({
    store,
    clock,
    random: Math.random,
    log,
    metrics,
    instanceId,
    leaseMs,
    heartbeatMs,
    notify,
  });
  const { scheduler, context } = parts;
  const closing = new AbortController();
  if (store.exclusive) await reclaimFromPreviousRun(context, closing.signal);
  const statistics = runStatistics(parts, closing.signal);
  const completions = new Completions(store, context.telemetry);
  const mounts: Mounted[] = [];
  const engine = schedulerEngine(scheduler, store.transactional, notify);
  const instance = { id: instanceId, host: hostname(), pid: process.pid, version, url: null };

  const looks = new PendingWaits(engine, closing.signal);

  return {
    scheduler,
    store,
    async tickSchedules(signal) {
      using loop = ticker(context, new Wake());
      while ((await loop.tick(signal)) === 0) signal.throwIfAborted();
    },
    engine: {
      ...engine,
      wait: (id, timeoutMs, signal) => looks.wait(id, timeoutMs, signal),
      async enlist(requests, run, signal) {
        const enlisted = await engine.enlist(requests, run, signal);
        if (store.exclusive) void adoptSoon(store, clock, closing.signal);
        return enlisted;
      },
      async complete(success, run) {
        await engine.complete(success, run);
        completions.add(success);
        if (store.exclusive) void adoptSoon(store, clock, closing.signal);
      },
    },
    source() {
      const attachment = store.exclusive ? 'local' : 'direct';
      const source = localSource({ scheduler, attachment, leaseKeeper: store.leaseKeeper, version });
      return {
        ...source,
        async heartbeat(beat, signal) {
          const answer = await source.heartbeat(beat, signal);
          if (answer !== undefined) await completions.count(answer.lost, signal);
          return answer;
        },
        async settle(settlements, signal) {
          await completions.count(settlements, signal);
          return source.settle(settlements, signal);
        },
      };
    },
    async runDuties(signal) {
      await Promise.all([
        runDuties(parts, dutySettings(leaseMs), signal),
        runPresence(parts, { ...instance, roles: ['scheduler', 'worker'] }, signal),
      ]);
    },
    async mount(mountOptions) {
      const { mountServer } = await import('../http/mount.ts');
      const mounted = await mountServer({ scheduler, log, version }, mountOptions);
      mounts.push(mounted);
      return mounted;
    },
    drain: () => scheduler.drain(),
    async close() {
      closing.abort(stopped());
      await Promise.all(mounts.map((mounted) => mounted.close()));
      await statistics;
      await looks.done();
      await scheduler[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
    },
  };
}

/** A file tells nobody that a transaction on it has committed, so it is looked at more often for a while. */
async function adoptSoon(store: Store, clock: Clock, signal: AbortSignal): Promise<void> {
  for (let waitMs = 5; waitMs < 5_000; waitMs *= 2) {
    await clock.sleep(waitMs, signal);
    if (signal.aborted) return;
    // What fails now is found by the grapher.
    if ((await store.adopt(1_000, signal).catch(() => 0)) > 0) return;
  }
}

function dutySettings(leaseMs: number) {
  return {
    leaseMs,
    reapEveryMs: Math.min(SETTINGS.reapEveryMs.default, leaseMs),
    forgetWorkersAfterMs: FORGET_WORKERS_AFTER_MS,
    retention: {
      doneMs: SETTINGS.retentionDoneMs.default,
      otherMs: SETTINGS.retentionFailedMs.default,
      statsMs: SETTINGS.retentionStatsMs.default,
    },
    ledgerMs: SETTINGS.retentionLedgerMs.default,
  };
}

/** Builds a scheduler around one store. */

import type { Clock, Random } from '../core/clock.ts';
import { isWorkronError } from '../core/error.ts';
import type { SecretKeys } from '../core/secret.ts';
import type { Log } from '../ops/log.ts';
import type { Metrics } from '../ops/metrics.ts';
import { Rounds } from '../ops/rounds.ts';
import { Wake } from '../ops/wake.ts';
import type { Store } from '../store/store.ts';
import { accessOf } from './access/access.ts';
import { sessionsOf } from './access/sessions.ts';
import { clusterOf } from './cluster.ts';
import type { SchedulerContext } from './context.ts';
import { countSideEffects } from './count-side-effects.ts';
import { JobLog } from './job-log.ts';
import { jobsOf } from './jobs/jobs.ts';
import { ClaimWaits } from './leases/claim-waits.ts';
import { IdleClaims } from './leases/idle-claims.ts';
import { SharedPolling } from './leases/shared-polling.ts';
import { workerCallsOf } from './leases/worker-calls.ts';
import { NO_TARGETS, type NotifyContext } from './notify/targets.ts';
import { notifyTestsOf } from './notify/test-messages.ts';
import type { Readiness, Scheduler } from './scheduler.ts';
import { schedulesOf } from './schedules/schedules.ts';
import { scrape } from './scrape.ts';
import { Sealing } from './secrets/sealing.ts';
import { secretsOf } from './secrets/secrets.ts';
import { Telemetry } from './telemetry.ts';
import { definitionsOf } from './workflows/definitions.ts';
import { workflowsOf } from './workflows/workflows.ts';

interface SchedulerOptions {
  store: Store;
  clock: Clock;
  random: Random;
  log: Log;
  metrics: Metrics;
  instanceId: string;
  leaseMs: number;
  heartbeatMs: number;
  /** The default is `NO_TARGETS`. */
  notify?: NotifyContext;
  /** Without them, secrets can be neither set nor read. */
  secretKeys?: SecretKeys | null;
}

/** A scheduler and what its duties share with it. */
export interface SchedulerParts {
  scheduler: Scheduler;
  context: SchedulerContext;
  rounds: Rounds;
  /** Fired when a bulk operation has started. */
  bulkWake: Wake;
}

const READY_TIMEOUT_MS = 5_000;
/** For each of the last things that are counted and written. */
const CLOSE_TIMEOUT_MS = 5_000;

export function createScheduler(options: SchedulerOptions): SchedulerParts {
  const { store, clock, log, metrics, instanceId, leaseMs, heartbeatMs } = options;
  const context = contextOf(options);
  const rounds = new Rounds(clock);
  const bulkWake = new Wake();
  const draining = new AbortController();
  const startedAt = clock.monotonicMs();
  const sideEffects = countSideEffects(context, CLOSE_TIMEOUT_MS);
  metrics.storeDeadlocks = () => store.deadlocks();
  const scheduler: Scheduler = {
    instanceId,
    leaseMs,
    heartbeatMs,
    location: store.location,
    driver: store.driver,
    ...jobsOf(context, bulkWake, draining.signal),
    ...workflowsOf(context),
    ...definitionsOf(context),
    ...schedulesOf(context),
    ...clusterOf(context),
    ...accessOf(context),
    ...sessionsOf(context),
    ...secretsOf(context),
    ...notifyTestsOf(context),
    ...workerCallsOf(context, { leaseMs, stopped: draining.signal }),
    subscribe: (listener) => store.subscribe(listener),
    health: () => ({ instanceId, uptimeMs: clock.monotonicMs() - startedAt, stuck: rounds.stuck() }),
    ready: async (signal) =>
      draining.signal.aborted ? { ready: false, problems: ['shutting down'] } : await readiness({ store, log }, signal),
    metrics: (signal) => scrape(context, signal),
    countRequest: (route, status) => metrics.httpRequests.add({ route, status }),
    drain: () => draining.abort(),
    async [Symbol.asyncDispose]() {
      draining.abort();
      await sideEffects[Symbol.asyncDispose]();
      await context.telemetry.flush(store, AbortSignal.timeout(CLOSE_TIMEOUT_MS)).catch((error: unknown) => {
        log.warn({ error }, 'could not write the last statistics');
      });
    },
  };
  return { scheduler, context, rounds, bulkWake };
}

function contextOf({
  store,
  clock,
  random,
  log,
  metrics,
  instanceId,
  notify,
  secretKeys,
}: SchedulerOptions): SchedulerContext {
  return {
    store,
    clock,
    random,
    log,
    instanceId,
    notify: notify ?? NO_TARGETS,
    secretKeys: secretKeys ?? null,
    sealing: new Sealing(store, secretKeys ?? null),
    idle: new IdleClaims(),
    polls: new SharedPolling(store, clock),
    claimWaits: new ClaimWaits(),
    inputChecks: new Map(),
    telemetry: new Telemetry({ metrics, instanceId, log: new JobLog(log), now: () => clock.now() }),
  };
}

async function readiness(
  { store, log }: Pick<SchedulerContext, 'store' | 'log'>,
  signal: AbortSignal,
): Promise<Readiness> {
  try {
    await store.checkWritable(AbortSignal.any([signal, AbortSignal.timeout(READY_TIMEOUT_MS)]));
    return { ready: true, problems: [] };
  } catch (error) {
    // Anybody may ask: neither the address of the database nor the path of a file is named.
    log.warn({ error }, 'not ready');
    const isFull = isWorkronError(error, 'store_full');
    return { ready: false, problems: [isFull ? 'the disk of the store is full' : 'the store does not answer'] };
  }
}

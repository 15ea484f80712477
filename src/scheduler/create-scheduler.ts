/** Puts the use cases together around one store. */

import type { Clock, Random } from '../core/clock.ts';
import { WorkronError } from '../core/error.ts';
import type { Log } from '../ops/log.ts';
import type { Metrics } from '../ops/metrics.ts';
import { Rounds } from '../ops/rounds.ts';
import { Wake } from '../ops/wake.ts';
import type { Store } from '../store/store.ts';
import type { SchedulerContext } from './context.ts';
import { readOperation, startBulk } from './jobs/bulk.ts';
import { cancel, edit, jobNotFound, retry } from './jobs/change-job.ts';
import { readLog } from './jobs/read-log.ts';
import { Submitter } from './jobs/submit.ts';
import { wait } from './jobs/wait.ts';
import { waitingFor } from './jobs/waiting-for.ts';
import { claim } from './leases/claim.ts';
import { IdleClaims } from './leases/idle-claims.ts';
import { settle } from './leases/settle.ts';
import { SharedPolling } from './leases/shared-polling.ts';
import { NOBODY, type NotifyContext, watchJob, watchWorkflow } from './notify/targets.ts';
import { told } from './notify/told.ts';
import type { Readiness, Scheduler } from './scheduler.ts';
import { schedulesOf } from './schedules/schedules-of.ts';
import { scrape } from './scrape.ts';
import { Telemetry } from './telemetry.ts';
import { rerunWorkflow } from './workflows/rerun.ts';
import { viewWorkflow } from './workflows/view-workflow.ts';
import { cancelWorkflow, retryWorkflow } from './workflows/workflows.ts';

export interface SchedulerOptions {
  store: Store;
  clock: Clock;
  random: Random;
  log: Log;
  metrics: Metrics;
  instanceId: string;
  leaseMs: number;
  heartbeatMs: number;
  /** Nobody, unless given. */
  notify?: NotifyContext;
}

/** A scheduler with what its duties share with it. */
export interface SchedulerParts {
  scheduler: Scheduler;
  context: SchedulerContext;
  rounds: Rounds;
  /** Fired when an operation was asked for. */
  bulkWake: Wake;
}

const READY_TIMEOUT_MS = 5_000;

export function createScheduler(options: SchedulerOptions): SchedulerParts {
  const { store, clock, random, log, metrics, instanceId, leaseMs, heartbeatMs } = options;
  const context: SchedulerContext = {
    store,
    clock,
    random,
    log,
    instanceId,
    notify: options.notify ?? NOBODY,
    idle: new IdleClaims(),
    looks: new SharedPolling(store, clock),
    telemetry: new Telemetry(metrics, instanceId),
  };
  metrics.storeDeadlocks = () => store.deadlocks();
  const submitter = new Submitter(context);
  const rounds = new Rounds(clock);
  const bulkWake = new Wake();
  const draining = new AbortController();
  const startedAt = clock.now();
  const untilDrained = (signal: AbortSignal) => ({ signal, stopped: draining.signal });

  async function ready(signal: AbortSignal): Promise<Readiness> {
    if (draining.signal.aborted) return { ready: false, problems: ['shutting down'] };
    try {
      await store.now(AbortSignal.any([signal, AbortSignal.timeout(READY_TIMEOUT_MS)]));
      return { ready: true, problems: [] };
    } catch (error) {
      return {
        ready: false,
        problems: [`the store does not answer: ${error instanceof Error ? error.message : String(error)}`],
      };
    }
  }

  const scheduler: Scheduler = {
    instanceId,
    leaseMs,
    heartbeatMs,
    location: store.location,
    driver: store.driver,

    submit: (jobs, submitOptions, signal) =>
      submitter.submit(
        jobs.map((job) => watchJob(job, context.notify)),
        submitOptions,
        signal,
      ),
    async job(id, signal) {
      const [job] = await store.read([id], signal);
      if (job === undefined) throw jobNotFound(id);
      return { ...job, waitingFor: await waitingFor(context, job, signal), ...(await told(context, job, signal)) };
    },
    async jobs(filter, page, signal) {
      const found = await store.list(filter, { before: page.before, limit: page.limit + 1 }, signal);
      const items = found.slice(0, page.limit);
      return { items, nextBefore: found.length > page.limit ? (items.at(-1)?.id ?? null) : null };
    },
    async attempts(id, signal) {
      const attempts = await store.attempts(id, signal);
      if (attempts.length === 0 && (await store.read([id], signal)).length === 0) throw jobNotFound(id);
      return attempts;
    },
    wait: (id, timeoutMs, signal) => wait(context, { id, timeoutMs }, untilDrained(signal)),
    cancel: (id, { keepDependents }, signal) => cancel(context, { id, keepDependents }, signal),
    retry: (id, signal) => retry(context, id, signal),
    edit: (id, change, signal) => edit(context, id, change, signal),
    log: (request, signal) => readLog(context, request, signal),
    async bulk(request, signal) {
      const started = await startBulk(context, request, signal);
      bulkWake.fire();
      return started;
    },
    operation: (id, signal) => readOperation(context, id, signal),

    submitWorkflow: (workflow, submitOptions, signal) =>
      store.insertWorkflow(watchWorkflow(workflow, context.notify), submitOptions, signal),
    workflow: (id, signal) => viewWorkflow(context, id, signal),
    async workflows(filter, page, signal) {
      const found = await store.workflows(filter, { before: page.before, limit: page.limit + 1 }, signal);
      const items = found.slice(0, page.limit);
      return { items, nextBefore: found.length > page.limit ? (items.at(-1)?.id ?? null) : null };
    },
    cancelWorkflow: (id, signal) => cancelWorkflow(context, id, signal),
    retryWorkflow: (id, signal) => retryWorkflow(context, id, signal),
    rerunWorkflow: (id, request, signal) => rerunWorkflow(context, id, request, signal),

    ...schedulesOf(context),

    queues: (signal) => store.queues(signal),
    setQueue: (name, settings, signal) => store.setQueue(name, settings, signal),
    workers: (signal) => store.workers(signal),
    async drainWorker(id, signal) {
      const worker = await store.drainWorker(id, signal);
      if (worker === undefined) throw new WorkronError('worker_not_found', `No worker ${id}`);
      return worker;
    },
    stats: (range, signal) => store.stats(range, signal),
    async cluster(signal) {
      const [instances, duties] = await Promise.all([store.instances(signal), store.duties(signal)]);
      return { instances, duties };
    },

    register: (worker, signal) => store.registerWorker(worker, signal),
    claim: (request, signal) => claim(context, request, untilDrained(signal)),
    async heartbeat({ started = [], ...beat }, signal) {
      const { workerId } = beat;
      if (started.length > 0)
        await store.start(
          started.map((start) => ({ ...start, workerId })),
          signal,
        );
      return await store.heartbeat(beat, signal);
    },
    settle: (settlements, signal) => settle(context, settlements, signal),
    writeLogs: (chunks, signal) => store.appendLogs(chunks, signal),
    report: (reports, signal) => store.report(reports, signal),
    async checkpoint(id, signal) {
      const value = await store.checkpoint(id, signal);
      if (value === null && (await store.read([id], signal)).length === 0) throw jobNotFound(id);
      return value;
    },
    leave: (workerId, signal) => store.leaveWorker(workerId, signal),

    subscribe: (listener) => store.subscribe(listener),
    health: () => ({ instanceId, uptimeMs: clock.now() - startedAt, stuck: rounds.stuck() }),
    ready,
    metrics: (signal) => scrape(context, signal),
    drain: () => draining.abort(),
    async [Symbol.asyncDispose]() {
      draining.abort();
      await context.telemetry.flush(store, AbortSignal.timeout(READY_TIMEOUT_MS)).catch((error: unknown) => {
        log.warn({ error }, 'the last statistics could not be written');
      });
    },
  };
  return { scheduler, context, rounds, bulkWake };
}

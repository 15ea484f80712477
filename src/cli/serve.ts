/** Runs the roles that a process was given until it is told to stop. The one place where all parts are put together. */

import { once } from 'node:events';
import { hostname } from 'node:os';
import { WEBHOOK_HANDLER } from '../core/notify.ts';
import type { Engine } from '../library/engine.ts';
import { newInstanceId } from '../library/instance-id.ts';
import { localSource } from '../library/local-source.ts';
import { version } from '../library/version.ts';
import { systemClock } from '../ops/clock.ts';
import type { Log } from '../ops/log.ts';
import { Metrics } from '../ops/metrics.ts';
import type { Role, Settings } from '../ops/settings/settings.ts';
import { createScheduler, type SchedulerParts } from '../scheduler/create-scheduler.ts';
import { runDuties, runPresence, runStatistics } from '../scheduler/duties/duties.ts';
import { reclaimFromPreviousRun } from '../scheduler/duties/reaper.ts';
import type { JobSource } from '../worker/job-source.ts';
import type { Handlers } from '../worker/run/handler-executor.ts';
import { banner } from './banner.ts';
import { notifyContext } from './installation-notify.ts';
import { openStore } from './open-store.ts';
import { ownLog } from './own-log.ts';
import { listenForShutdown, type Shutdown } from './shutdown.ts';

/** Workers that have been offline for a day are forgotten. */
const FORGET_WORKERS_AFTER_MS = 86_400_000;

/** Resolves with the exit code once everything has ended. */
export async function serve(settings: Settings, roles: readonly Role[]): Promise<number> {
  const log = ownLog(settings.logLevel);
  using shutdown = listenForShutdown(log);
  const worksRemotely = roles.length === 1 && roles[0] === 'worker' && settings.schedulerUrls.length > 0;
  await (worksRemotely
    ? serveRemoteWorker(settings, log, shutdown)
    : serveWithStore(settings, roles, { log, shutdown }));
  return 0;
}

async function serveRemoteWorker(settings: Settings, log: Log, shutdown: Shutdown): Promise<void> {
  const { httpSource } = await import('../worker/http-source.ts');
  const urls = settings.schedulerUrls;
  await using source = httpSource({ urls, token: settings.token, log, version });
  process.stdout.write(`Workron worker: ${settings.workers} slots for ${urls.join(', ')}\n`);
  const engine = async () => {
    const [{ Client }, { httpEngine }] = await Promise.all([
      import('../api/client.ts'),
      import('../library/http-engine.ts'),
    ]);
    return httpEngine(new Client({ url: urls[0] as string, token: settings.token }));
  };
  await runWorker({ source, engine, settings, log, shutdown });
}

interface Process {
  log: Log;
  shutdown: Shutdown;
}

async function serveWithStore(settings: Settings, roles: readonly Role[], { log, shutdown }: Process): Promise<void> {
  if (roles.includes('api')) {
    const { assertSafeBind } = await import('../http/safe-bind.ts');
    assertSafeBind(settings.host, settings.token);
  }
  // Safe on several at once; processes that only work or only serve wait until it is done.
  const migrate = roles.includes('scheduler');
  await using store = await openStore(settings, { log, migrate, signal: shutdown.drain });
  const instanceId = newInstanceId();
  const { leaseMs, heartbeatMs } = settings;
  const metrics = new Metrics(version, instanceId);
  const parts = createScheduler({
    store,
    clock: systemClock,
    random: Math.random,
    log,
    metrics,
    instanceId,
    leaseMs,
    heartbeatMs,
    notify: notifyContext(settings),
  });
  await using scheduler = parts.scheduler;
  const background = new AbortController();
  if (store.exclusive) {
    // Nothing that an earlier life started may still run when its jobs are handed out again.
    const { sweepOrphans } = await import('../worker/launcher/sweep.ts');
    await sweepOrphans(log);
    await reclaimFromPreviousRun(parts.context, background.signal);
  }
  const api = roles.includes('api') ? await startApi(settings, parts, log) : null;
  const instance = { id: instanceId, host: hostname(), pid: process.pid, roles, version, url: api?.url ?? null };
  const loops = [runStatistics(parts, background.signal), runPresence(parts, instance, background.signal)];
  if (roles.includes('scheduler')) loops.push(runDuties(parts, dutySettings(settings), background.signal));
  process.stdout.write(banner({ settings, roles, url: api?.url ?? null, location: store.location }));
  log.info({ instance_id: instanceId, roles, store: store.driver, location: store.location, url: api?.url }, 'started');
  try {
    shutdown.drain.addEventListener('abort', () => scheduler.drain());
    if (roles.includes('worker')) {
      const source = localSource({
        scheduler,
        attachment: store.exclusive ? 'local' : 'direct',
        leaseKeeper: store.leaseKeeper,
        version,
      });
      const engine = async () =>
        (await import('../library/scheduler-engine.ts')).schedulerEngine(
          scheduler,
          store.transactional,
          parts.context.notify,
        );
      await runWorker({ source, engine, settings, log, shutdown, metrics });
    }
    // A worker may be drained from afar; the other roles of its process go on.
    const hasOtherRoles = roles.some((role) => role !== 'worker');
    if (hasOtherRoles && !shutdown.drain.aborted) await once(shutdown.drain, 'abort');
  } finally {
    await api?.close();
    background.abort();
    await Promise.all(loops);
  }
  log.info({ instance_id: instanceId }, 'stopped');
}

function dutySettings(settings: Settings) {
  return {
    leaseMs: settings.leaseMs,
    reapEveryMs: settings.reapEveryMs,
    forgetWorkersAfterMs: FORGET_WORKERS_AFTER_MS,
    retention: {
      doneMs: settings.retentionDoneMs,
      otherMs: settings.retentionFailedMs,
      statsMs: settings.retentionStatsMs,
    },
    ledgerMs: settings.retentionLedgerMs,
  };
}

async function startApi(settings: Settings, { scheduler }: SchedulerParts, log: Log) {
  const { createServer } = await import('../http/server.ts');
  const { host, port, token, allowedHosts } = settings;
  const server = createServer({ scheduler, token, allowedHosts, log, version });
  return server.listen({ host, port });
}

interface WorkerProcess extends Process {
  source: JobSource;
  /** Where handlers submit further jobs. */
  engine: () => Promise<Engine>;
  settings: Settings;
  metrics?: Metrics;
}

async function loadHandlers(files: readonly string[], engine: Engine): Promise<Handlers> {
  const [{ loadJobs }, { handlersOf }, { Submitter }] = await Promise.all([
    import('../library/load-jobs.ts'),
    import('../library/handlers.ts'),
    import('../library/submitter.ts'),
  ]);
  return handlersOf(await loadJobs(files), new Submitter({ engine }));
}

/** Works until told to stop, then until what runs has ended, been cut short by `drain-timeout`, or by a second signal. */
async function runWorker({ source, engine, settings, log, shutdown, metrics }: WorkerProcess): Promise<void> {
  const { Worker } = await import('../worker/worker.ts');
  const { webhookHandler } = await import('../worker/webhook/webhook.ts');
  const { listOf } = await import('../worker/webhook/private-address.ts');
  const handlers = {
    [WEBHOOK_HANDLER]: webhookHandler({ allowed: listOf(settings.notifyAllowPrivate), version }),
    ...(settings.handlers.length === 0 ? {} : await loadHandlers(settings.handlers, await engine())),
  };
  const worker = new Worker({
    source,
    profile: {
      name: settings.workerName ?? newInstanceId(),
      slots: settings.workers,
      queues: settings.queues,
      commands: true,
      handlers: Object.keys(handlers),
      tags: settings.tags,
      resources: settings.resources,
    },
    clock: systemClock,
    random: Math.random,
    log,
    handlers,
    pidNamespace: settings.pidNamespace,
  });
  if (metrics !== undefined) metrics.stuckSlots = () => worker.stuckSlots;
  const stop = () => void worker.stop();
  shutdown.stop.addEventListener('abort', stop, { once: true });
  const running = worker.run();
  if (!shutdown.drain.aborted) await Promise.race([once(shutdown.drain, 'abort'), running]);
  const cut = settings.drainTimeoutMs === null ? null : setTimeout(stop, settings.drainTimeoutMs);
  await worker.drain();
  await running;
  if (cut !== null) clearTimeout(cut);
}

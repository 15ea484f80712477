/**
 * The composition root: puts the parts of one process together around a store, and shuts them down in order. The
 * command line, the library, its test kit and the benchmarks all start here.
 */

import { hostname } from 'node:os';
import type { Sender } from '../api/calls.ts';
import { decode } from '../api/decode.ts';
import { NotifyList, notifyFrom } from '../api/notify.ts';
import type { Clock } from '../core/clock.ts';
import { messageOf, WorkronError } from '../core/error.ts';
import { NEVER } from '../core/never.ts';
import type { SecretKeys } from '../core/secret.ts';
import type { Mounted, MountOptions } from '../http/mounted.ts';
import type { ServerCertificate } from '../http/server-certificate.ts';
import { systemClock } from '../ops/clock.ts';
import type { Log } from '../ops/log.ts';
import { Metrics } from '../ops/metrics.ts';
import { type Role, SETTINGS, type Settings } from '../ops/settings/settings.ts';
import { createScheduler, type SchedulerParts } from '../scheduler/create-scheduler.ts';
import { type DutySettings, runDuties, runPresence, runStatistics } from '../scheduler/duties/duties.ts';
import { reclaimFromPreviousRun } from '../scheduler/duties/reaper.ts';
import type { NotifyContext } from '../scheduler/notify/targets.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import type { Store } from '../store/store.ts';
import type { Isolation } from '../worker/command/isolation.ts';
import type { JobSource } from '../worker/job-source.ts';
import { newInstanceId } from './instance-id.ts';
import { localSource } from './local-source.ts';
import { exportMetrics } from './otel-metrics.ts';
import { version } from './version.ts';

/** The settings of a scheduler and its duties. The server and the library have the same ones. */
export type NodeSettings = Pick<
  Settings,
  | 'leaseMs'
  | 'heartbeatMs'
  | 'reapEveryMs'
  | 'retentionDoneMs'
  | 'retentionFailedMs'
  | 'retentionLedgerMs'
  | 'retentionAuditMs'
  | 'retentionStatsMs'
>;

export const NODE_DEFAULTS: NodeSettings = {
  leaseMs: SETTINGS.leaseMs.default,
  heartbeatMs: SETTINGS.heartbeatMs.default,
  reapEveryMs: SETTINGS.reapEveryMs.default,
  retentionDoneMs: SETTINGS.retentionDoneMs.default,
  retentionFailedMs: SETTINGS.retentionFailedMs.default,
  retentionLedgerMs: SETTINGS.retentionLedgerMs.default,
  retentionAuditMs: SETTINGS.retentionAuditMs.default,
  retentionStatsMs: SETTINGS.retentionStatsMs.default,
};

interface NodeOptions {
  /** The node closes the store when it is closed itself, and when it cannot be opened. */
  store: Store;
  settings: NodeSettings;
  log: Log;
  /** The installation's notify list. Empty by default. */
  notify?: NotifyContext;
  /** Seal and open secrets. */
  secretKeys?: SecretKeys | null;
  clock?: Clock;
  /** Where the store is, for `GET /doctor`. Without it, only the machine is examined. */
  place?: Pick<Settings, 'store' | 'dbSchema'>;
  /** Ends commands that a previous run left behind, before their jobs are reclaimed. */
  sweepOrphans?: Pick<Isolation, 'user'>;
}

/** Workers that have been offline for a day are forgotten. */
const FORGET_WORKERS_AFTER_MS = 86_400_000;

/** Resolves once jobs that a previous run held are reclaimed. The node has no role yet. */
export async function openNode(options: NodeOptions): Promise<WorkronNode> {
  const { store, settings, log, notify, clock = systemClock } = options;
  let otelMetrics: Disposable | null = null;
  try {
    const { leaseMs, heartbeatMs } = settings;
    const instanceId = newInstanceId();
    const metrics = new Metrics(version, instanceId);
    const shared = { store, clock, random: Math.random, log, metrics, instanceId, leaseMs, heartbeatMs };
    const { secretKeys = null } = options;
    const parts = createScheduler({ ...shared, secretKeys, ...(notify === undefined ? {} : { notify }) });
    await parts.context.sealing.prepare().catch((error: unknown) => {
      log.warn(
        { error },
        'no data key could be made; jobs with texts in env or sealed inputs cannot be submitted here until there is one',
      );
    });
    otelMetrics = await exportMetrics(parts.context, version);
    if (store.exclusive) {
      if (options.sweepOrphans) {
        const { sweepOrphans } = await import('../worker/launcher/sweep.ts');
        await sweepOrphans(log, options.sweepOrphans.user);
      }
      await reclaimFromPreviousRun(parts.context, NEVER);
    }
    return new WorkronNode({ store, settings, log, metrics, otelMetrics, parts, place: options.place });
  } catch (error) {
    otelMetrics?.[Symbol.dispose]();
    await store[Symbol.asyncDispose]();
    throw error;
  }
}

interface NodeParts extends Pick<NodeOptions, 'store' | 'settings' | 'log'> {
  metrics: Metrics;
  /** Stops the export of gauges; `null` if there is none. */
  otelMetrics: Disposable | null;
  parts: SchedulerParts;
  place: NodeOptions['place'];
}

type ListenSettings = Pick<
  Settings,
  'host' | 'port' | 'token' | 'allowedHosts' | 'trustProxy' | 'userHeader' | 'roleMap'
> & { certificate: ServerCertificate | null };

export class WorkronNode implements AsyncDisposable {
  readonly store: Store;
  readonly scheduler: Scheduler;
  readonly context: SchedulerParts['context'];
  readonly metrics: Metrics;
  /** The address of this process's API; `null` if it has none. */
  url: string | null = null;
  readonly #otelMetrics: Disposable | null;
  readonly #parts: SchedulerParts;
  readonly #settings: NodeSettings;
  readonly #log: Log;
  readonly #place: NodeOptions['place'];
  readonly #servers: { close(): Promise<void> }[] = [];
  readonly #background = new AbortController();
  readonly #loops: Promise<unknown>[] = [];

  constructor({ store, settings, log, metrics, otelMetrics, parts, place }: NodeParts) {
    this.store = store;
    this.scheduler = parts.scheduler;
    this.context = parts.context;
    this.metrics = metrics;
    this.#otelMetrics = otelMetrics;
    this.#parts = parts;
    this.#settings = settings;
    this.#log = log;
    this.#place = place;
    this.#loops.push(runStatistics(parts, this.#background.signal));
  }

  get instanceId(): string {
    return this.scheduler.instanceId;
  }

  /** Serves the API on a host and port. */
  async listen({ host, port, token, allowedHosts, certificate, ...front }: ListenSettings) {
    const { createServer } = await import('../http/server.ts');
    const server = createServer({
      ...this.#served(),
      token,
      allowedHosts,
      certificate,
      proxy: { peers: front.trustProxy, userHeader: front.userHeader, roles: front.roleMap },
    });
    const api = await server.listen({ host, port });
    this.#servers.push(api);
    this.url = api.url;
    return api;
  }

  /** The API for an HTTP server of the application. */
  async mount(options: MountOptions): Promise<Mounted> {
    const { mountServer } = await import('../http/mount.ts');
    const mounted = await mountServer(this.#served(), options);
    this.#servers.push(mounted);
    return mounted;
  }

  /** Operations for callers of this process, under the name of `actor`. */
  door(actor: string | null): Sender {
    let opened: Promise<Sender> | undefined;
    const open = async (): Promise<Sender> => {
      const { openDoor } = await import('../http/door.ts');
      const door = openDoor(this.#served(), actor);
      this.#servers.push(door);
      return door;
    };
    const door = (): Promise<Sender> => (opened ??= open());
    return {
      json: async (route, call) => await (await door()).json(route, call),
      open: async (route, call) => await (await door()).open(route, call),
      unreachable: (cause) => new WorkronError('internal', `The stream broke off: ${messageOf(cause)}`, { cause }),
    };
  }

  #served() {
    const place = this.#place;
    const examine = async () => await (await import('./doctor/doctor.ts')).examine(place?.store, place?.dbSchema);
    return { scheduler: this.scheduler, log: this.#log, version, examine };
  }

  /** Jobs for a worker of this process. */
  source(): JobSource {
    const { scheduler, store } = this;
    const attachment = store.exclusive ? 'local' : 'direct';
    return localSource({ scheduler, attachment, leaseKeeper: store.leaseKeeper, version });
  }

  /**
   * Lists this process among the instances, and runs the duties if it is a scheduler. Resolves once `signal` has
   * aborted, or the node is being closed, and every round in progress has ended. Rejects if the duties have died; the
   * node's health reports that, too.
   */
  async runRoles(roles: readonly Role[], signal: AbortSignal = NEVER): Promise<void> {
    const until = AbortSignal.any([signal, this.#background.signal]);
    const instance = { id: this.instanceId, host: hostname(), pid: process.pid, roles, version, url: this.url };
    const loops = [runPresence(this.#parts, instance, until)];
    if (roles.includes('scheduler')) loops.push(runDuties(this.#parts, dutySettings(this.#settings), until));
    this.#loops.push(...loops);
    try {
      await Promise.all(loops);
    } catch (error) {
      this.#parts.rounds.died('duties');
      throw error;
    }
  }

  /** From now on, claims and waits return early and the node reports that it is not ready. */
  drain(): void {
    this.scheduler.drain();
  }

  /**
   * The order of a shutdown. Each step needs what later steps close:
   *
   * 1. The caller drains the process's own worker (`drainWorker`): running jobs end and are settled through the scheduler.
   * 2. The API closes: it stays reachable while the worker drains, and finishes the requests it has.
   * 3. Background loops end: duties hand over to another instance, the instance leaves the list.
   * 4. `lastCalls`, which may still read jobs.
   * 5. OpenTelemetry reads no more gauges. The scheduler writes the last statistics.
   * 6. The store closes.
   *
   * The last two steps happen even if an earlier one fails.
   */
  async close(lastCalls: () => Promise<void> = async () => undefined): Promise<void> {
    await using _store = this.store;
    await using _scheduler = this.scheduler;
    using _otelMetrics = this.#otelMetrics;
    await Promise.all(this.#servers.map((server) => server.close()));
    this.#background.abort();
    await Promise.allSettled(this.#loops);
    await lastCalls();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

function dutySettings(settings: NodeSettings): DutySettings {
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
    auditMs: settings.retentionAuditMs,
  };
}

/** Checks the installation's notify list, which is in the API's form. */
export function notifyContext({
  notify,
  notifySecret: secret,
  publicUrl,
}: Pick<Settings, 'notify' | 'notifySecret' | 'publicUrl'>): NotifyContext {
  return { list: notifyFrom(decode(NotifyList, notify)), secret, publicUrl };
}

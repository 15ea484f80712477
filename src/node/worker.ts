/** A process's own worker, whatever its source of jobs. */

import { WEBHOOK_HANDLER } from '../core/notify.ts';
import { systemClock } from '../ops/clock.ts';
import type { Log } from '../ops/log.ts';
import type { Metrics } from '../ops/metrics.ts';
import type { Isolation } from '../worker/command/isolation.ts';
import type { JobSource, WorkerProfile } from '../worker/job-source.ts';
import type { Handler, Handlers } from '../worker/run/handler-executor.ts';
import { listOf } from '../worker/webhook/private-address.ts';
import { webhookHandler } from '../worker/webhook/webhook.ts';
import { Worker } from '../worker/worker.ts';
import { newInstanceId } from './instance-id.ts';
import { machineResources } from './machine.ts';
import { version } from './version.ts';

interface NodeWorkerOptions extends Omit<WorkerProfile, 'name' | 'handlers'> {
  isolation: Isolation;
  /** True if the process goes on after a drain; then the worker can be asked to take jobs again. */
  staysDrained: boolean;
  source: JobSource;
  log: Log;
  /** Host and pid if `null`. */
  name: string | null;
  /** The application's handlers. The worker also delivers webhooks. */
  handlers: Handlers;
  webhooks: Handler;
  metrics?: Metrics | undefined;
}

export function createWorker(options: NodeWorkerOptions): Worker {
  const { source, log, name, webhooks, metrics, isolation, staysDrained, ...profile } = options;
  const resources = { ...machineResources(), ...profile.resources };
  const handlers = { [WEBHOOK_HANDLER]: webhooks, ...options.handlers };
  const worker = new Worker({
    source,
    profile: { ...profile, resources, name: name ?? newInstanceId(), handlers: Object.keys(handlers) },
    clock: systemClock,
    random: Math.random,
    log,
    handlers,
    isolation,
    staysDrained,
  });
  if (metrics !== undefined) metrics.stuckSlots = () => worker.stuckSlots;
  return worker;
}

/** Delivers webhooks, to private addresses only if they are in one of the allowed networks. */
export function webhooksTo(allowPrivate: readonly string[]): Handler {
  return webhookHandler({ allowed: listOf(allowPrivate), version });
}

/** Takes no new jobs and waits until running ones have ended. Jobs that still run after `timeoutMs` are stopped and given back. */
export async function drainWorker(worker: Worker, timeoutMs: number | null): Promise<void> {
  const cut = timeoutMs === null ? undefined : setTimeout(() => void worker.stop(), timeoutMs);
  await worker.drain();
  clearTimeout(cut);
}

/** Metrics for Prometheus, and the gauges that OpenTelemetry reads too. */

import type { QueueState } from '../core/queue.ts';
import type { WorkerRow } from '../core/worker.ts';
import type { Metrics } from '../ops/metrics.ts';

import type { SchedulerContext } from './context.ts';

/** Returns Prometheus text. Gauges are read from the store now; if it does not answer, they are left out. */
export async function scrape(
  context: SchedulerContext,
  signal: AbortSignal,
): Promise<{ contentType: string; body: string }> {
  await readGauges(context, signal);
  const { registry } = context.telemetry.metrics;
  return { contentType: registry.contentType, body: await registry.metrics() };
}

/**
 * Sets the gauges from the store. They are emptied and set in one go, so that of two readers at the same time none finds
 * them empty.
 */
export async function readGauges(context: SchedulerContext, signal: AbortSignal): Promise<void> {
  const { store, telemetry, log } = context;
  try {
    const [queues, workers, now, limits, rates] = await Promise.all([
      store.queues(signal),
      store.workers(signal),
      store.now(signal),
      store.limits(signal),
      store.rates(signal),
    ]);
    clear(telemetry.metrics);
    setQueues(telemetry.metrics, queues, now);
    setWorkers(telemetry.metrics, workers);
    const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);
    const { metrics } = telemetry;
    metrics.limits.set({ kind: 'limit', state: 'running' }, sum(limits.map(({ running }) => running)));
    metrics.limits.set({ kind: 'limit', state: 'waiting' }, sum(limits.map(({ waiting }) => waiting)));
    metrics.limits.set({ kind: 'rate', state: 'waiting' }, sum(rates.map(({ waiting }) => waiting)));
  } catch (error) {
    clear(telemetry.metrics);
    if (!signal.aborted) log.warn({ error }, 'could not read queue and worker gauges from the store');
  }
}

function clear({ queueJobs, oldestPending, limits, workers, slots, reservations }: Metrics): void {
  for (const gauge of [queueJobs, oldestPending, limits, workers, slots, reservations]) gauge.reset();
}

function setQueues(metrics: Metrics, queues: readonly QueueState[], now: number): void {
  for (const queue of queues) {
    for (const status of ['blocked', 'scheduled', 'pending', 'running'] as const) {
      metrics.queueJobs.set({ queue: queue.name, status }, queue[status]);
    }
    const age = queue.oldestPendingAt === null ? 0 : Math.max(0, now - queue.oldestPendingAt) / 1_000;
    metrics.oldestPending.set({ queue: queue.name }, age);
  }
}

function setWorkers(metrics: Metrics, workers: readonly WorkerRow[]): void {
  for (const state of ['online', 'draining', 'offline'] as const) {
    metrics.workers.set({ state }, workers.filter((worker) => worker.state === state).length);
  }
  metrics.reservations.set({}, workers.filter(({ reserved }) => reserved !== null).length);
  const online = workers.filter(({ state }) => state !== 'offline');
  const taken = online.reduce((sum, { running }) => sum + running, 0);
  const slots = online.reduce((sum, worker) => sum + worker.slots, 0);
  metrics.slots.set({ state: 'taken' }, taken);
  metrics.slots.set({ state: 'free' }, Math.max(0, slots - taken));
}

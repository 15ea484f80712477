/** Metrics for Prometheus. */

import type { SchedulerContext } from './context.ts';

/** Returns Prometheus text. Gauges are read from the store now; if it does not answer, they are left out. */
export async function scrape(
  context: SchedulerContext,
  signal: AbortSignal,
): Promise<{ contentType: string; body: string }> {
  const { metrics } = context.telemetry;
  for (const gauge of [
    metrics.queueJobs,
    metrics.oldestPending,
    metrics.limits,
    metrics.workers,
    metrics.slots,
    metrics.reservations,
  ])
    gauge.reset();
  try {
    const [queues, workers, now, limits, rates] = await Promise.all([
      context.store.queues(signal),
      context.store.workers(signal),
      context.store.now(signal),
      context.store.limits(signal),
      context.store.rates(signal),
    ]);
    const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);
    metrics.limits.set({ kind: 'limit', state: 'running' }, sum(limits.map(({ running }) => running)));
    metrics.limits.set({ kind: 'limit', state: 'waiting' }, sum(limits.map(({ waiting }) => waiting)));
    metrics.limits.set({ kind: 'rate', state: 'waiting' }, sum(rates.map(({ waiting }) => waiting)));
    for (const queue of queues) {
      for (const status of ['blocked', 'scheduled', 'pending', 'running'] as const) {
        metrics.queueJobs.set({ queue: queue.name, status }, queue[status]);
      }
      const age = queue.oldestPendingAt === null ? 0 : Math.max(0, now - queue.oldestPendingAt) / 1_000;
      metrics.oldestPending.set({ queue: queue.name }, age);
    }
    for (const state of ['online', 'draining', 'offline'] as const) {
      metrics.workers.set({ state }, workers.filter((worker) => worker.state === state).length);
    }
    metrics.reservations.set({}, workers.filter(({ reserved }) => reserved !== null).length);
    const online = workers.filter(({ state }) => state !== 'offline');
    const taken = online.reduce((sum, { running }) => sum + running, 0);
    const slots = online.reduce((sum, worker) => sum + worker.slots, 0);
    metrics.slots.set({ state: 'taken' }, taken);
    metrics.slots.set({ state: 'free' }, Math.max(0, slots - taken));
  } catch (error) {
    context.log.warn({ error }, 'could not read queue and worker gauges from the store');
  }
  return { contentType: metrics.registry.contentType, body: await metrics.registry.metrics() };
}

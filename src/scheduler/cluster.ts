/** The operations on queues, workers, statistics, instances and duties. */

import { WorkronError } from '../core/error.ts';
import type { InstanceRow } from '../core/instance.ts';
import type { DutyState } from '../core/leadership.ts';
import type { LimitState, RateState } from '../core/meter-state.ts';
import type { QueueSettings, QueueState } from '../core/queue.ts';
import type { StatRow } from '../core/stats.ts';
import type { WorkerRow } from '../core/worker.ts';
import type { SchedulerContext } from './context.ts';

export interface ClusterView {
  instances: InstanceRow[];
  duties: DutyState[];
}

export interface Cluster {
  queues(signal: AbortSignal): Promise<QueueState[]>;
  setQueue(name: string, settings: Partial<QueueSettings>, signal: AbortSignal): Promise<QueueState>;
  /** Throws `not_found`, or `illegal_transition` if it has unfinished jobs: they would run without its settings. */
  deleteQueue(name: string, signal: AbortSignal): Promise<void>;
  /** Keys of limits that are set, used or waited for. */
  limits(signal: AbortSignal): Promise<LimitState[]>;
  /** Sets how many jobs with a key may run; `null`: the limits of the jobs count. */
  setLimit(key: string, max: number | null, signal: AbortSignal): Promise<LimitState>;
  /** Keys of rates that are used, closed or waited for. */
  rates(signal: AbortSignal): Promise<RateState[]>;
  workers(signal: AbortSignal): Promise<WorkerRow[]>;
  drainWorker(id: number, signal: AbortSignal): Promise<WorkerRow>;
  undrainWorker(id: number, signal: AbortSignal): Promise<WorkerRow>;
  stats(range: { from: number; to: number }, signal: AbortSignal): Promise<StatRow[]>;
  /** The processes that share this store, and the leader of each duty. */
  cluster(signal: AbortSignal): Promise<ClusterView>;
}

export function clusterOf({ store, instanceId }: SchedulerContext): Cluster {
  return {
    queues: (signal) => store.queues(signal),
    setQueue: (name, settings, signal) => store.setQueue(name, settings, signal),
    async deleteQueue(name, signal) {
      if (await store.deleteQueue(name, signal)) return;
      const queue = (await store.queues(signal)).find((one) => one.name === name);
      if (queue === undefined) throw new WorkronError('not_found', `No queue ${JSON.stringify(name)}`);
      throw new WorkronError('illegal_transition', `Queue ${name} has unfinished jobs; cancel or move them first`);
    },
    limits: (signal) => store.limits(signal),
    setLimit: (key, max, signal) => store.setLimit(key, max, signal),
    rates: (signal) => store.rates(signal),
    workers: (signal) => store.workers(signal),
    drainWorker: async (id, signal) => known(await store.drainWorker(id, signal), id),
    undrainWorker: async (id, signal) => known(await store.undrainWorker(id, signal), id),
    stats: (range, signal) => store.stats(range, signal),
    async cluster(signal) {
      const [instances, duties, now] = await Promise.all([
        store.instances(signal),
        store.duties(signal),
        store.now(signal),
      ]);
      // The process that answers is here now. Where it owns the store, it renews its row rarely, and no other can be here.
      const seen = instances.map((one) => {
        if (one.id === instanceId) return { ...one, seenAt: Math.max(one.seenAt, now), state: 'online' as const };
        return store.exclusive ? { ...one, state: 'offline' as const } : one;
      });
      return { instances: seen, duties };
    },
  };
}

function known(worker: WorkerRow | undefined, id: number): WorkerRow {
  if (worker === undefined) throw new WorkronError('worker_not_found', `No worker ${id}`);
  return worker;
}

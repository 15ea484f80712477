/** Queues, workers, operations, statistics and filters between the wire and the scheduler. */

import { toInstant, toInstantOrNull } from './fields.ts';
import type { JobFilter as WireFilter } from './job-filter.ts';
import type { Operation as WireOperation } from './operation.ts';
import type { Queue } from './queue.ts';
import type { Registration } from './registration.ts';
import { STAT_OUTCOMES, type Stats } from './stats.ts';
import type { Worker } from './worker.ts';
import {
  type JobFilter,
  type NewWorker,
  type Operation,
  type QueueState,
  STAT_BUCKETS_MS,
  type StatRow,
  type WorkerRow,
} from '../scheduler/scheduler.ts';

export type InstantOrAgo = { at: number } | { agoMs: number };

export function resolveInstant(value: InstantOrAgo, now: number): number {
  return 'at' in value ? value.at : now - value.agoMs;
}

export function filterFromWire(wire: WireFilter, now: number): JobFilter {
  return {
    ...(wire.status && { statuses: wire.status }),
    // Only these have one: with them, three among millions are found at once.
    ...(wire.reason && !wire.status && { statuses: ['failed', 'cancelled', 'skipped'] as const }),
    ...(wire.queue !== undefined && { queue: wire.queue }),
    ...(wire.name !== undefined && { name: wire.name }),
    ...(wire.tag && { tags: wire.tag }),
    ...(wire.worker_id !== undefined && { workerId: wire.worker_id }),
    ...(wire.reason && { reason: wire.reason }),
    ...(wire.workflow_id !== undefined && { workflowId: wire.workflow_id }),
    ...(wire.group_id !== undefined && { groupId: wire.group_id }),
    ...(wire.parent_id !== undefined && { parentId: wire.parent_id }),
    ...(wire.from && { createdFrom: resolveInstant(wire.from, now) }),
    ...(wire.to && { createdTo: resolveInstant(wire.to, now) }),
    ...(wire.q !== undefined && { text: wire.q }),
    ...(wire.ids && { ids: wire.ids }),
  };
}

export function queueToWire(queue: QueueState): Queue {
  return {
    name: queue.name,
    paused: queue.paused,
    paused_at: toInstantOrNull(queue.pausedAt),
    max_running: queue.maxRunning,
    blocked: queue.blocked,
    scheduled: queue.scheduled,
    pending: queue.pending,
    running: queue.running,
    oldest_pending_at: toInstantOrNull(queue.oldestPendingAt),
  };
}

export function workerToWire(worker: WorkerRow): Worker {
  return {
    id: String(worker.id),
    name: worker.name,
    state: worker.state,
    attachment: worker.attachment,
    instance_id: worker.instanceId,
    host: worker.host,
    pid: worker.pid,
    address: worker.address,
    version: worker.version,
    slots: worker.slots,
    running: worker.running,
    queues: worker.queues === null ? null : [...worker.queues],
    commands: worker.commands,
    handlers: [...worker.handlers],
    tags: [...worker.tags],
    resources: { ...worker.resources },
    lease: worker.leaseMs,
    registered_at: toInstant(worker.registeredAt),
    last_heartbeat: toInstant(worker.seenAt),
  };
}

/** A worker behind HTTP; what it does not say of itself is taken from where it calls from. */
export function workerFromWire(wire: Registration, remote: { address: string; leaseMs: number }): NewWorker {
  return {
    name: wire.name,
    attachment: 'remote',
    instanceId: wire.instance_id ?? wire.name,
    host: wire.host ?? remote.address,
    pid: wire.pid ?? null,
    address: wire.address ?? remote.address,
    slots: wire.slots,
    queues: wire.queues,
    commands: wire.commands,
    handlers: wire.handlers,
    tags: [...new Set(wire.tags)],
    resources: wire.resources,
    leaseMs: remote.leaseMs,
    version: wire.version ?? 'unknown',
  };
}

export function operationToWire(operation: Operation): WireOperation {
  return {
    id: String(operation.id),
    action: operation.action,
    status: operation.status,
    total: operation.total,
    changed: operation.changed,
    skipped: operation.skipped,
    created_at: toInstant(operation.createdAt),
    ended_at: toInstantOrNull(operation.endedAt),
  };
}

export function statsToWire(range: { from: number; to: number }, rows: readonly StatRow[]): Stats {
  const totals = Object.fromEntries(STAT_OUTCOMES.map((outcome) => [outcome, 0])) as Stats['totals'];
  for (const row of rows) totals[row.outcome] += row.count;
  return {
    from: toInstant(range.from),
    to: toInstant(range.to),
    buckets: [...STAT_BUCKETS_MS],
    totals,
    items: rows.map((row) => ({
      minute: toInstant(row.minute),
      queue: row.queue,
      outcome: row.outcome,
      count: row.count,
      wait: [...row.wait],
      run: [...row.run],
    })),
  };
}

import type { QueueSettings, QueueState } from '../../../core/queue.ts';
import type { Tables } from '../base/tables.ts';

export function queues(tables: Tables): QueueState[] {
  const names = new Set([...tables.queues.keys(), ...tables.live.queueNames()]);
  return [...names].sort().map((name) => stateOf(tables, name));
}

export function setQueue(tables: Tables, name: string, settings: Partial<QueueSettings>): QueueState {
  const row = tables.queues.get(name) ?? { pausedAt: null, maxRunning: null, rate: null };
  if (settings.paused === false) row.pausedAt = null;
  if (settings.paused === true) row.pausedAt ??= tables.clock.now();
  if (settings.maxRunning !== undefined) row.maxRunning = settings.maxRunning;
  if (settings.rate !== undefined) row.rate = settings.rate === null ? null : { ...settings.rate };
  tables.queues.set(name, row);
  tables.changes.madeWork();
  return stateOf(tables, name);
}

export function deleteQueue(tables: Tables, name: string): boolean {
  const { blocked, scheduled, pending, running } = tables.live.counts(name);
  return blocked + scheduled + pending + running === 0 && tables.queues.delete(name);
}

function stateOf(tables: Tables, name: string): QueueState {
  const row = tables.queues.get(name) ?? { pausedAt: null, maxRunning: null, rate: null };
  return {
    name,
    paused: row.pausedAt !== null,
    pausedAt: row.pausedAt,
    maxRunning: row.maxRunning,
    rate: row.rate === null ? null : { ...row.rate },
    ...tables.live.counts(name),
    oldestPendingAt: oldestPendingAt(tables, name),
  };
}

function oldestPendingAt(tables: Tables, name: string): number | null {
  let oldest: number | null = null;
  for (const { lane, line } of tables.live.pendingLines()) {
    if (lane.queue !== name) continue;
    for (const { dueAt } of line.values()) oldest = Math.min(dueAt, oldest ?? dueAt);
  }
  return oldest;
}

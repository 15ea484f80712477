import { queueMeter } from '../../../core/meter.ts';
import type { QueueSettings, QueueState } from '../../../core/queue.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';

interface QueueRow {
  name: string;
  paused_at: number | null;
  max_running: number | null;
  /** JSON. */
  rate: string | null;
}

interface CountRow {
  name: string;
  status: 'blocked' | 'scheduled' | 'pending' | 'running';
  count: number;
  due: number;
}

/** Reads all queues, or the one of this name. */
export function queues({ database }: Context, name: string | null): QueueState[] {
  const states = new Map(database.all<QueueRow>(sql.queueRows, name).map((row) => [row.name, stateOf(row)]));
  for (const row of database.all<CountRow>(sql.queueCounts, name)) {
    const state = states.get(row.name) ?? stateOf({ name: row.name, paused_at: null, max_running: null, rate: null });
    states.set(row.name, withCount(state, row));
  }
  return [...states.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

export function setQueue({ database, now, effects }: Context, name: string, settings: Partial<QueueSettings>): void {
  const row = database.get<QueueRow>(sql.queueRows, name) ?? { name, paused_at: null, max_running: null, rate: null };
  if (settings.paused === false) row.paused_at = null;
  if (settings.paused === true) row.paused_at ??= now;
  if (settings.maxRunning !== undefined) row.max_running = settings.maxRunning;
  if (settings.rate !== undefined) row.rate = settings.rate === null ? null : JSON.stringify(settings.rate);
  database.run(sql.setQueue, name, row.paused_at, row.max_running, row.rate);
  if (settings.rate != null) {
    const { name: meter, windowMs } = queueMeter(name, settings.rate);
    database.run(sql.noteWindows, meter, windowMs);
  }
  effects.madeRoom();
}

export function deleteQueue({ database }: Context, name: string): boolean {
  return database.run(sql.deleteQueue, name) > 0;
}

function stateOf({ name, paused_at, max_running, rate }: QueueRow): QueueState {
  return {
    name,
    paused: paused_at !== null,
    pausedAt: paused_at,
    maxRunning: max_running,
    rate: rate === null ? null : (JSON.parse(rate) as QueueState['rate']),
    blocked: 0,
    scheduled: 0,
    pending: 0,
    running: 0,
    oldestPendingAt: null,
  };
}

function withCount(state: QueueState, { status, count, due }: CountRow): QueueState {
  return { ...state, [status]: count, ...(status === 'pending' ? { oldestPendingAt: due } : {}) };
}

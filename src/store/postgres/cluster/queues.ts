import type { WaitingStatus } from '../../../core/job.ts';
import { queueMeter } from '../../../core/meter.ts';
import type { QueueSettings, QueueState } from '../../../core/queue.ts';
import type { Context } from '../base/context.ts';
import { numbers } from '../base/values.ts';

interface CountRow {
  name: string;
  status: WaitingStatus | 'running';
  count: number;
  due: number;
}

interface QueueRow {
  name: string;
  paused_at: number | null;
  max_running: number | null;
  rate: QueueSettings['rate'];
}

export function queues(context: Context, signal: AbortSignal): Promise<QueueState[]> {
  return readQueues(context, null, signal);
}

/** Reads all queues, or the one named. */
async function readQueues({ database, sql }: Context, only: string | null, signal: AbortSignal): Promise<QueueState[]> {
  const [counts, settings] = await Promise.all([
    database.query<CountRow>(sql.queueCounts, [only], signal),
    database.query<QueueRow>(sql.queueRows, [only], signal),
  ]);
  const states = new Map<string, QueueState>();
  const stateOf = (name: string) => {
    const state = states.get(name) ?? { ...EMPTY, name };
    states.set(name, state);
    return state;
  };
  for (const { name, paused_at, max_running, rate } of settings) {
    Object.assign(stateOf(name), { paused: paused_at !== null, pausedAt: paused_at, maxRunning: max_running, rate });
  }
  for (const { name, status, count, due } of counts) {
    stateOf(name)[status] = count;
    if (status === 'pending') stateOf(name).oldestPendingAt = due;
  }
  return [...states.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

const EMPTY: Omit<QueueState, 'name'> = {
  paused: false,
  pausedAt: null,
  maxRunning: null,
  rate: null,
  blocked: 0,
  scheduled: 0,
  pending: 0,
  running: 0,
  oldestPendingAt: null,
};

export async function setQueue(
  context: Context,
  name: string,
  { paused, maxRunning, rate }: Partial<QueueSettings>,
  signal: AbortSignal,
): Promise<QueueState> {
  const { database, sql, lanes, hints } = context;
  const wanted = rate === undefined || rate === null ? null : JSON.stringify(rate);
  const values = [name, paused ?? null, maxRunning !== undefined, maxRunning ?? null, rate !== undefined, wanted];
  if (rate !== undefined && rate !== null) {
    const { name: meter, windowMs } = queueMeter(name, rate);
    await database.query(sql.noteWindows, [[meter], numbers([windowMs])], signal);
  }
  await database.query(sql.setQueue, values, signal);
  await lanes.refresh(signal);
  hints.announce({ work: true });
  const [state] = await readQueues(context, name, signal);
  return state ?? { ...EMPTY, name };
}

export async function deleteQueue(
  { database, sql, lanes }: Context,
  name: string,
  signal: AbortSignal,
): Promise<boolean> {
  const gone = await database.query(sql.deleteQueue, [name], signal);
  if (gone.length > 0) await lanes.refresh(signal);
  return gone.length > 0;
}

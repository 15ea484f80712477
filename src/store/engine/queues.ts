/** Queues: their settings, and the numbers of their unfinished jobs. */

import type { WaitingStatus } from '../../core/job.ts';
import { queueMeter } from '../../core/meter.ts';
import type { QueueSettings, QueueState } from '../../core/queue.ts';
import { FLAG } from '../flags.ts';
import { columns } from '../sql/columns.ts';
import { type Fragment, now, sql } from '../sql/sql.ts';
import { inTurn, many, one, type Stages, staged, type Tx } from '../sql/tx.ts';
import { statusOf } from './standing.ts';

const settings = columns<Pick<QueueState, 'name' | 'pausedAt' | 'maxRunning' | 'rate'>>({
  name: 'text',
  pausedAt: 'instant',
  maxRunning: 'int',
  rate: 'json',
});

interface Count {
  name: string;
  status: WaitingStatus | 'running';
  count: number;
  due: number;
}

const counts = columns<Count>({ name: 'text', status: 'text', count: 'bigint', due: 'instant' });

const NO_JOBS = { blocked: 0, scheduled: 0, pending: 0, running: 0, oldestPendingAt: null };
const UNSET = { paused: false, pausedAt: null, maxRunning: null, rate: null };

async function queues(tx: Tx): Promise<QueueState[]> {
  const states = await readQueues(tx, { queue: sql`true`, lane: sql`true` });
  return states.sort((a, b) => (a.name < b.name ? -1 : 1));
}

async function queueNamed(tx: Tx, name: string): Promise<QueueState> {
  const [state] = await readQueues(tx, { queue: sql`name = ${name}`, lane: sql`n.queue = ${name}` });
  return state ?? { ...UNSET, ...NO_JOBS, name };
}

/** A group runs without a worker and is not counted as running. */
async function readQueues(tx: Tx, isAsked: { queue: Fragment; lane: Fragment }): Promise<QueueState[]> {
  const status = statusOf('l');
  const [set, counted] = await Promise.all([
    tx.all(settings, sql`select ${settings} from queue where ${isAsked.queue}`),
    tx.all(
      counts,
      sql`select n.queue as name, ${status} as status, min(l.due) as due,
        count(*) filter (where l.flags & ${FLAG.group} = 0 or ${status} <> 'running') as count
      from live l join any_lane n on n.id = l.lane where ${isAsked.lane} group by 1, 2`,
    ),
  ]);
  const states = new Map<string, QueueState>(
    set.map((row) => [row.name, { ...row, ...NO_JOBS, paused: row.pausedAt !== null }]),
  );
  for (const { name, status, count, due } of counted) {
    const state = states.get(name) ?? { ...UNSET, ...NO_JOBS, name };
    states.set(name, { ...state, [status]: count, ...(status === 'pending' ? { oldestPendingAt: due } : {}) });
  }
  return [...states.values()];
}

/** One statement, or a transaction if the queue gets a rate. */
async function setQueue(stages: Stages, name: string, wanted: Partial<QueueSettings>): Promise<void> {
  const { rate } = wanted;
  if (rate === undefined || rate === null) return await storeSettings(stages.tx, name, wanted);
  const { name: meter, windowMs } = queueMeter(name, rate);
  await stages.write(async (tx) => {
    await storeSettings(tx, name, wanted);
    await tx.run(sql`insert into meter (name, window_ms) values (${meter}, ${windowMs})
      on conflict (name) do update set window_ms = excluded.window_ms where meter.window_ms < excluded.window_ms`);
  });
}

async function storeSettings(tx: Tx, name: string, { paused, ...limits }: Partial<QueueSettings>): Promise<void> {
  const pausedAt = paused === undefined ? undefined : paused ? now : null;
  const stillPausedAt = paused ? sql`coalesce(queue.paused_at, excluded.paused_at)` : pausedAt;
  await tx.run(sql`insert into queue ${settings.values({ name, pausedAt, ...limits })}
    on conflict (name) do update set ${settings.set({ name, pausedAt: stillPausedAt, ...limits })}`);
  tx.effects.changedQueue();
}

/** Deletes the settings unless jobs of the queue are unfinished. */
async function deleteQueue(tx: Tx, name: string): Promise<boolean> {
  const isGone = sql`not exists (select 1 from live l join any_lane n on n.id = l.lane where n.queue = ${name})`;
  const deleted = await tx.run(sql`delete from queue where name = ${name} and ${isGone}`);
  if (deleted > 0) tx.effects.changedQueue();
  return deleted > 0;
}

export const queueMethods = {
  queues: many('read', queues),
  // Counting the jobs of a queue is a longer read.
  setQueue: inTurn(staged('write', setQueue), many('read', queueNamed)),
  deleteQueue: one('write', deleteQueue),
};

/** What is in use of limits and rates, and their locks. */

import { type Meter, type MeterUse, queueMeter, roomOf, UNUSED } from '../../core/meter.ts';
import type { QueueSettings } from '../../core/queue.ts';
import { columns } from '../sql/columns.ts';
import { after, eachOf, type Fragment, listOf, msOf, now, raw, sql } from '../sql/sql.ts';
import type { Tx } from '../sql/tx.ts';
import { isRunning, lookedUp } from './standing.ts';

interface MeterRow {
  name: string;
  windowMs: number;
}

const meter = columns<MeterRow>({ name: 'text', windowMs: 'bigint' });

interface UseRow extends Omit<MeterUse, 'starts'> {
  name: string;
  /** `null` for a limit. */
  starts: readonly number[] | null;
  now: number;
}

/** A row of `usesOf`. */
export const useRow = columns<UseRow>({
  name: 'text',
  max: 'int',
  opensAt: 'instant',
  running: 'bigint',
  starts: 'json',
  now: 'instant',
});

/** True if start `s` is of an attempt that still runs. */
export const runs = sql`exists (
  select 1 from live l where l.job_id = s.job_id and l.attempt = s.attempt and ${isRunning('l')} ${lookedUp})`;

export function runningOf(name: string): Fragment {
  return sql`(select count(*) from metered_start s where s.name = ${raw(name)} and ${runs})`;
}

/** What is in use of meters, in any order. */
export function usesOf(names: readonly string[]): Fragment {
  const starts = sql`select ${msOf('s.at')} as value from metered_start s
    where s.name = i.value and s.at > ${after(now, sql`-coalesce(m.window_ms, 0)`)} order by s.at`;
  return sql`select i.value as name, m.max, m.opens_at, ${runningOf('i.value')} as running,
      case when i.value not like 'limit:%' then ${listOf(starts)} end as starts, ${now} as now
    from ${eachOf(names, 'text')} left join meter m on m.name = i.value`;
}

export interface Uses {
  useOf: (name: string) => MeterUse;
  /** The instant at which that was so. */
  now: number;
}

export function usesFrom(rows: readonly UseRow[]): Uses {
  const uses = new Map(
    rows.map(({ name, max, opensAt, running, starts }) => [name, { max, opensAt, running, starts: starts ?? [] }]),
  );
  return { useOf: (name) => uses.get(name) ?? UNUSED, now: rows[0]?.now ?? 0 };
}

export async function readUses(tx: Tx, names: readonly string[]): Promise<Uses> {
  return usesFrom(names.length === 0 ? [] : await tx.all(useRow, usesOf(names)));
}

/** What the rates of queues allow now, and their meters, by queue. */
export async function readQueueRooms(
  tx: Tx,
  queues: readonly { name: string; rate: QueueSettings['rate'] }[],
): Promise<{ rooms: Map<string, ReturnType<typeof roomOf>>; meters: Map<string, Meter> }> {
  const meters = new Map(
    queues.flatMap(({ name, rate }) => (rate === null ? [] : [[name, queueMeter(name, rate)] as const])),
  );
  if (meters.size === 0) return { rooms: new Map(), meters };
  const names = [...meters.values()].map(({ name }) => name);
  const { useOf, now } = await readUses(tx, names);
  const rooms = [...meters].map(([queue, meter]) => [queue, roomOf(meter, useOf(meter.name), now)] as const);
  return { rooms: new Map(rooms), meters };
}

/** Locks meters, by name, and makes those that do not exist. What is in use of them is read in a later statement. */
export async function lockMeters(tx: Tx, windows: ReadonlyMap<string, number>): Promise<void> {
  if (windows.size > 0) await tx.lockRows(withWindows(windows));
}

/** Writes meters with the longest window that a job has asked for. */
function withWindows(windows: ReadonlyMap<string, number>): Fragment {
  const rows = [...windows].map(([name, windowMs]) => ({ name, windowMs })).sort(byName);
  return sql`insert into meter ${meter.rows(rows)} on conflict (name) do update set window_ms =
    case when meter.window_ms < excluded.window_ms then excluded.window_ms else meter.window_ms end`;
}

/** The order of `collate "C"`. */
function byName(a: MeterRow, b: MeterRow): number {
  return Buffer.compare(Buffer.from(a.name), Buffer.from(b.name));
}

import { countStarting, rivalsOf } from '../../../core/ahead.ts';
import { type Limit, type MeterUse, metersOf, type Rate } from '../../../core/meter.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';
import { workers } from '../cluster/workers.ts';
import { meterUse } from './meters.ts';

interface Standing {
  lane: number;
  rank: number;
  turn: number;
  due: number;
}

export function countAhead(context: Context, jobId: number, atMost: number): number {
  const { database, lanes } = context;
  const own = database.get<Standing>(sql.pendingLane, jobId);
  if (own === undefined) return 0;
  const lane = lanes.laneOf(own.lane);
  const isRival = rivalsOf(lane, workers(context));
  const rivals = database
    .tuples<[number]>(sql.queueLanes, lane.queue)
    .map(([id]) => ({ id, lane: lanes.laneOf(id) }))
    .filter((known) => isRival(known.lane));
  const idsOf = (metered: boolean) =>
    JSON.stringify(rivals.filter((known) => known.lane.metered === metered).map(({ id }) => id));
  const before = [own.rank, own.turn, own.due, jobId, atMost];
  const plain = database.get<{ count: number }>(sql.countAhead, idsOf(false), ...before)?.count ?? 0;
  return Math.min(plain + startingBefore(context, idsOf(true), before), atMost);
}

/** How many jobs of these lanes with meters can start before. */
function startingBefore(context: Context, lanes: string, before: readonly number[]): number {
  const { database, now } = context;
  const jobs = database
    .tuples<[limits: string | null, rates: string | null]>(sql.meteredAhead, lanes, ...before, now)
    .map(([limits, rates]) => ({
      limits: JSON.parse(limits ?? '[]') as Limit[],
      rates: JSON.parse(rates ?? '[]') as Rate[],
    }));
  if (jobs.length === 0) return 0;
  const names = [...new Set(jobs.flatMap((job) => metersOf(job).map(({ name }) => name)))];
  const uses = meterUse(context, names);
  return countStarting(jobs, (name) => uses[names.indexOf(name)] as MeterUse, now);
}

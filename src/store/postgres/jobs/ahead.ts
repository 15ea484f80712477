import { countStarting, rivalsOf } from '../../../core/ahead.ts';
import { type Limit, type MeterUse, metersOf, type Rate } from '../../../core/meter.ts';
import type { Context } from '../base/context.ts';
import type { Session } from '../base/database.ts';
import { numbers } from '../base/values.ts';
import { workers } from '../cluster/workers.ts';
import { readMeterUses } from './meters.ts';

export async function countAhead(
  context: Context,
  jobId: number,
  atMost: number,
  signal: AbortSignal,
): Promise<number> {
  const { database, sql, lanes } = context;
  const [own] = await database.query<{ lane: number }>(sql.pendingLane, [jobId], signal);
  if (own === undefined) return 0;
  await lanes.refresh(signal);
  const lane = lanes.lane(own.lane);
  if (lane === undefined) return 0;
  const isRival = rivalsOf(lane, await workers(context, signal));
  const idsOf = (metered: boolean) =>
    numbers(
      lanes
        .all()
        .filter((known) => known.lane.metered === metered && isRival(known.lane))
        .map(({ id }) => id),
    );
  const [plain] = await database.query<{ count: number }>(sql.countAhead, [jobId, idsOf(false), atMost], signal);
  const starting = await startingBefore(context, [jobId, idsOf(true), atMost], signal);
  return Math.min((plain?.count ?? 0) + starting, atMost);
}

/** How many jobs of these lanes with meters can start before. */
async function startingBefore(
  { database, sql }: Context,
  before: readonly unknown[],
  signal: AbortSignal,
): Promise<number> {
  type Row = { limits: Limit[] | null; rates: Rate[] | null };
  const rows = await database.query<Row>(sql.meteredAhead, [...before], signal);
  if (rows.length === 0) return 0;
  const jobs = rows.map(({ limits, rates }) => ({ limits: limits ?? [], rates: rates ?? [] }));
  const names = [...new Set(jobs.flatMap((job) => metersOf(job).map(({ name }) => name)))];
  const session: Session = { query: (statement, values = []) => database.query(statement, values, signal) };
  const { uses, now } = await readMeterUses(sql, session, names);
  return countStarting(jobs, (name) => uses[names.indexOf(name)] as MeterUse, now);
}

/** Ticks that are due. Of several instances at once, each takes other schedules. */

import type { Schedule } from '../../../core/schedule/schedule.ts';
import type { Run } from '../../../core/schedule/tick.ts';
import { countStarted, countVerdicts, type DueLine, planDue } from '../../plan-due.ts';
import { isOfTheRow, messageOf, putOffMs } from '../../put-off.ts';
import { decodeLine, type LineColumns } from '../../schedule-columns.ts';
import type { Ticked, TickRequest } from '../../store.ts';
import type { Context } from '../context.ts';
import type { Session } from '../database.ts';
import { transactAgain } from '../graph/again.ts';
import { Locks } from '../graph/locks.ts';
import { Tally } from '../graph/tally.ts';
import { isTooSlow } from '../postgres-error.ts';
import { numbers } from '../values.ts';
import { openRuns, type ScheduleRow, toSchedule } from './rows.ts';
import { writePlans } from './write-ticks.ts';

interface LookRow {
  next_due: number | null;
  stops: boolean;
  now: number;
}

type Judged = Pick<Ticked, 'ticks' | 'counts' | 'started' | 'contended' | 'failed'>;

export async function tick(context: Context, request: TickRequest, signal: AbortSignal): Promise<Ticked> {
  const { database, sql } = context;
  const look = async () => (await database.query<LookRow>(sql.lookDue, [], signal))[0] as LookRow;
  const before = await look();
  const isDue = ({ next_due, now }: LookRow) => next_due !== null && next_due <= now;
  const judged = isDue(before) ? await judgeDue(context, request, signal) : NOTHING;
  const after = isDue(before) ? await look() : before;
  const stops = after.stops ? await database.query<{ id: number; stops: Run[] }>(sql.stops, [], signal) : [];
  return {
    ...judged,
    nextDueAt: after.next_due,
    now: after.now,
    more: isDue(after) && judged.ticks.length + judged.failed.length > 0,
    stop: stops.map(({ id, stops: runs }) => ({ tickId: id, runs })),
  };
}

interface DueNow extends DueLine {
  schedule: Schedule;
  now: number;
}

interface Judgement {
  request: TickRequest;
  tally: Tally;
  /** Told what is to be judged before any of it is written. */
  begin: (due: DueNow[]) => void;
}

const NOTHING: Judged = { ticks: [], counts: {}, started: {}, contended: [], failed: [] };

async function judgeDue(context: Context, request: TickRequest, signal: AbortSignal): Promise<Judged> {
  let begun: DueNow[] = [];
  try {
    const { judged, tally } = await transactAgain(context, signal, async (session) => {
      const ledger = new Tally();
      const begin = (due: DueNow[]) => void (begun = due);
      const answer = await judge(context, session, { request, tally: ledger, begin });
      await ledger.write(context, session);
      return { judged: answer, tally: ledger };
    });
    tally.tell(context);
    return judged;
  } catch (error) {
    const [alone] = begun;
    if (request.lines !== 1 || alone === undefined || signal.aborted) throw error;
    if (!isOfTheRow(error) && !isTooSlow(error)) throw error;
    return await putOff(context, alone, error, signal);
  }
}

/** Unless somebody has judged it meanwhile. */
async function putOff(context: Context, due: DueNow, error: unknown, signal: AbortSignal): Promise<Judged> {
  const { schedule, line } = due;
  const againInMs = putOffMs(due);
  await context.database.transaction(signal, (session) =>
    session.query(context.sql.putOffLine, [line.id, line.cursor, againInMs]),
  );
  return { ...NOTHING, failed: [{ schedule: schedule.name, error: messageOf(error), againInMs }] };
}

async function judge(context: Context, session: Session, { request, tally, begin }: Judgement): Promise<Judged> {
  const { sql } = context;
  const { limit, lines: most = limit } = request;
  type Due = { id: number; name: string; due: number; now: number };
  const due = await session.query<Due>(sql.dueSchedules, [most]);
  const [first] = due;
  if (first === undefined) return NOTHING;
  const { now } = first;
  const ids = numbers(due.map(({ id }) => id));
  const locked = (await session.query<ScheduleRow>(sql.lockSchedules, [ids])).map(toSchedule);
  const schedules = new Map(locked.map((schedule) => [schedule.id, schedule]));
  // In a later statement than the lock: whoever held it before may have judged them.
  const lines = await session.query<LineColumns>(sql.dueLines, [numbers([...schedules.keys()]), now, most]);
  const open = await openRuns(
    context,
    session,
    lines.map(({ id }) => id),
  );
  const dueNow = lines.map((row) => ({
    schedule: schedules.get(row.schedule_id) as Schedule,
    line: decodeLine(row),
    open: open.get(row.id) ?? [],
    now,
  }));
  begin(dueNow);
  const { plans, failed } = planDue(dueNow, { ...request, now });
  const transaction = { session, locks: new Locks(context, session), tally };
  const ticks = await writePlans(
    context,
    transaction,
    plans.map(({ due: { schedule, open: runs }, plan }) => ({ schedule, open: runs, plan })),
  );
  for (const { due: one, againInMs } of failed) {
    await session.query(sql.putOffLine, [one.line.id, one.line.cursor, againInMs]);
  }
  const taken = new Set(lines.map(({ schedule_id }) => schedule_id));
  return {
    ticks,
    counts: countVerdicts(plans),
    started: countStarted(plans),
    contended: due.filter(({ id }) => !taken.has(id)).map(({ name, due: at }) => ({ schedule: name, dueAt: at })),
    failed: failed.map(({ due: one, ...rest }) => ({ schedule: one.schedule.name, ...rest })),
  };
}

export async function stoppedOthers(
  { database, sql }: Context,
  tickIds: readonly number[],
  signal: AbortSignal,
): Promise<void> {
  await database.transaction(signal, (session) => session.query(sql.stopped, [numbers(tickIds)]));
}

/** Judges due ticks. Concurrent instances take different schedules. */

import { isRowError, messageOf } from '../../../core/error.ts';
import { postponeMs } from '../../../core/schedule/plan-due.ts';
import type { Schedule } from '../../../core/schedule/schedule.ts';
import type { Run } from '../../../core/schedule/tick.ts';
import { decodeLine, type LineColumns } from '../../schedule-columns.ts';
import type { Ticked, TickRequest } from '../../schedule-store.ts';
import type { Context } from '../base/context.ts';
import type { Session } from '../base/database.ts';
import { isTooSlow } from '../base/store-error.ts';
import { numbers } from '../base/values.ts';
import { TransactionEffects } from '../graph/effects.ts';
import { Locks } from '../graph/locks.ts';
import { retryTransaction } from '../graph/retry-transaction.ts';
import { type DueNow, judge } from './judge.ts';
import { type ScheduleRow, toSchedule } from './rows.ts';

interface LookRow {
  next_due: number | null;
  stops: boolean;
  now: number;
}

type TickStep = Pick<Ticked, 'ticks' | 'counts' | 'started' | 'contended' | 'failed'>;

const NOTHING = { ticks: [], counts: {}, started: {}, failed: [] };

export async function tick(context: Context, request: TickRequest, signal: AbortSignal): Promise<Ticked> {
  const { database, sql } = context;
  const look = async () => (await database.query<LookRow>(sql.lookDue, [], signal))[0] as LookRow;
  const before = await look();
  const isDue = ({ next_due, now }: LookRow) => next_due !== null && next_due <= now;
  const judged = isDue(before) ? await judgeDue(context, request, signal) : { ...NOTHING, contended: [] };
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

async function judgeDue(context: Context, request: TickRequest, signal: AbortSignal): Promise<TickStep> {
  let begun: DueNow[] = [];
  try {
    const { judged, effects } = await retryTransaction(context, signal, async (session) => {
      const transaction = { session, locks: new Locks(context, session), effects: new TransactionEffects() };
      const { due, ...taken } = await takeDue(context, session, request);
      begun = due;
      const answer = due.length === 0 ? NOTHING : await judge(context, transaction, due, { request });
      await transaction.effects.write(context, session);
      return { judged: { ...answer, ...taken }, effects: transaction.effects };
    });
    effects.publish(context);
    return judged;
  } catch (error) {
    const [alone] = begun;
    if (request.lines !== 1 || alone === undefined || signal.aborted) throw error;
    if (!isRowError(error) && !isTooSlow(error)) throw error;
    return await postpone(context, alone, error, signal);
  }
}

/** Postpones a line, unless another call has judged it meanwhile. */
async function postpone(context: Context, due: DueNow, error: unknown, signal: AbortSignal): Promise<TickStep> {
  const { schedule, line } = due;
  const retryInMs = postponeMs(due);
  await context.database.transaction(signal, (session) =>
    session.query(context.sql.postponeLine, [line.id, line.cursor, retryInMs]),
  );
  return { ...NOTHING, contended: [], failed: [{ schedule: schedule.name, error: messageOf(error), retryInMs }] };
}

/** Locks due schedules that no other call has locked, and returns their due lines. */
async function takeDue(
  context: Context,
  session: Session,
  { limit, lines: most = limit }: TickRequest,
): Promise<{ due: DueNow[]; contended: Ticked['contended'] }> {
  const { sql } = context;
  type Due = { line: number; id: number; name: string; due: number; now: number };
  const found = await session.query<Due>(sql.dueLines, [most]);
  const [first] = found;
  if (first === undefined) return { due: [], contended: [] };
  const { now } = first;
  // The first line of each schedule has waited longest.
  const due = new Map(found.toReversed().map((one) => [one.id, one]));
  const locked = (await session.query<ScheduleRow>(sql.lockSchedules, [numbers([...due.keys()])])).map(toSchedule);
  const schedules = new Map(locked.map((schedule) => [schedule.id, schedule]));
  const ids = numbers(found.map(({ line }) => line));
  // Read after the lock was taken: its previous holder may have judged them.
  const lines = await session.query<LineColumns>(sql.stillDue, [ids, numbers([...schedules.keys()]), now]);
  for (const { schedule_id } of lines) due.delete(schedule_id);
  const schedule = ({ schedule_id }: LineColumns) => schedules.get(schedule_id) as Schedule;
  return {
    due: lines.map((row) => ({ schedule: schedule(row), line: decodeLine(row), now })),
    contended: [...due.values()].map(({ name, due: at }) => ({ schedule: name, dueAt: at })),
  };
}

export async function stoppedOthers(
  { database, sql }: Context,
  tickIds: readonly number[],
  signal: AbortSignal,
): Promise<void> {
  await database.transaction(signal, (session) => session.query(sql.stopped, [numbers(tickIds)]));
}

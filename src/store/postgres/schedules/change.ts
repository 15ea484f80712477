/** Changes a schedule, in steps that fit into one transaction each. */

import { isRowError, messageOf } from '../../../core/error.ts';
import { changeLines, dueBeforeChange, type LineState } from '../../../core/schedule/change-lines.ts';
import { type Changed, changeSchedule as decideChange } from '../../../core/schedule/change-schedule.ts';
import { postponeMs } from '../../../core/schedule/plan-due.ts';
import type { Schedule } from '../../../core/schedule/schedule.ts';
import { decodeLineState, type LineColumns, specOfSchedule } from '../../schedule-columns.ts';
import { type ChangeRequest, nothingJudged, type ScheduleStep } from '../../schedule-store.ts';
import type { Context } from '../base/context.ts';
import type { Session } from '../base/database.ts';
import { numbers } from '../base/values.ts';
import { checkDefinition } from '../graph/definitions.ts';
import { TransactionEffects } from '../graph/effects.ts';
import { Locks } from '../graph/locks.ts';
import { retryTransaction } from '../graph/retry-transaction.ts';
import type { Transaction } from '../graph/transaction.ts';
import { type DueNow, judge } from './judge.ts';
import { insertLines, lockSchedule, nowOf, readSchedule } from './rows.ts';

interface ChangeInput {
  name: string;
  request: ChangeRequest;
}

/** The only line of a step, which could not be written. */
interface Unable extends DueNow {
  isLast: boolean;
  error: string;
}

export async function changeSchedule(
  context: Context,
  name: string,
  request: ChangeRequest,
  signal: AbortSignal,
): Promise<ScheduleStep | undefined> {
  const asked = { name, request };
  const begun: Begun = { alone: null };
  try {
    return await takeStep(context, asked, begun, signal);
  } catch (error) {
    const { alone } = begun;
    if (alone === null || signal.aborted || !isRowError(error)) throw error;
    return await takeStep(context, asked, { alone: null, unable: { ...alone, error: messageOf(error) } }, signal);
  }
}

interface Begun {
  /** The only line of the step, once it is known. */
  alone: Omit<Unable, 'error'> | null;
  unable?: Unable;
}

async function takeStep(
  context: Context,
  asked: ChangeInput,
  begun: Begun,
  signal: AbortSignal,
): Promise<ScheduleStep | undefined> {
  const { answer, effects } = await retryTransaction(context, signal, async (session) => {
    const transaction = { session, locks: new Locks(context, session), effects: new TransactionEffects() };
    const step = await stepOf(context, transaction, asked, begun);
    await transaction.effects.write(context, session);
    return { answer: step, effects: transaction.effects };
  });
  effects.publish(context);
  if (answer?.changed === true) context.hints.announce({ schedules: true });
  return answer;
}

async function stepOf(
  context: Context,
  transaction: Transaction,
  { name, request }: ChangeInput,
  begun: Begun,
): Promise<ScheduleStep | undefined> {
  const { session } = transaction;
  if (request.change.type === 'edit') await checkDefinition(context, session, request.change.edit);
  const before = await lockSchedule(context, session, name);
  if (before === undefined) return undefined;
  const now = await nowOf(context, session);
  const { change, at: asked, ...pieces } = request;
  const at = asked ?? now;
  const changed = decideChange(before, change, at);
  const lines = (await session.query<LineColumns>(context.sql.linesOf, [before.id])).map(decodeLineState);
  const most = pieces.lines ?? pieces.limit;
  const due = dueBeforeChange({ before, changed, lines, at })
    .slice(0, most)
    .map((line) => ({ schedule: before, line, now }));
  const [first] = due;
  const answer = { ...nothingJudged(now), changed: first === undefined, at };
  if (first === undefined) {
    await writeChange(context, session, { before, changed, lines, at });
    return { ...answer, schedule: (await readSchedule(context, session, name)) as Schedule };
  }
  if (most === 1) begun.alone = { ...first, isLast: changed.closes(first.line.key) };
  const { unable } = begun;
  const isAgain = unable !== undefined && unable.line.id === first.line.id && unable.line.cursor === first.line.cursor;
  if (isAgain && !unable.isLast) {
    const retryInMs = postponeMs(unable);
    await session.query(context.sql.postponeLine, [unable.line.id, unable.line.cursor, retryInMs]);
    answer.failed = [{ schedule: name, error: unable.error, retryInMs }];
    return { ...answer, schedule: before };
  }
  const { closes } = changed;
  const judged = await judge(context, transaction, due, {
    request: pieces,
    closes,
    ...(isAgain ? { unable: first.line.id } : {}),
  });
  const failed = isAgain ? [{ schedule: name, error: unable.error, retryInMs: null }] : judged.failed;
  return { ...answer, ...judged, failed, schedule: (await readSchedule(context, session, name)) as Schedule };
}

interface PlannedChange {
  before: Schedule;
  changed: Changed<Schedule>;
  lines: readonly LineState[];
  at: number;
}

async function writeChange(context: Context, session: Session, about: PlannedChange): Promise<void> {
  const { sql } = context;
  const { schedule, begin } = about.changed;
  const { id, owner, updatedAt, pausedAt, pausedNote } = schedule;
  const spec = JSON.stringify(specOfSchedule(schedule));
  await session.query(sql.updateSchedule, [id, owner, spec, updatedAt, pausedAt, pausedNote]);
  const { gone, moves, newKeys } = changeLines(about);
  if (gone.length > 0) await session.query(sql.deleteLines, [numbers(gone.map((line) => line.id))]);
  const moved = moves.map(({ id: line, cursor, nextDue, tail }) => ({
    id: line,
    cursor,
    next_due: nextDue,
    tail_id: tail?.tickId ?? null,
    tail_verdict: tail?.verdict ?? null,
  }));
  if (moved.length > 0) await session.query(sql.moveLines, [JSON.stringify(moved)]);
  if (begin !== null) await insertLines(context, session, { id, keys: newKeys, ...begin });
}

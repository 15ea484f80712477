/** Schedules: made, changed, deleted, read. */

import { beginLines, changeSchedule as decideChange, keysOf } from '../../../core/schedule/change-schedule.ts';
import { planLine } from '../../../core/schedule/plan-line.ts';
import type { NewSchedule, Schedule, ScheduleChange } from '../../../core/schedule/schedule.ts';
import { scheduleExists } from '../../refusals.ts';
import { decodeLine, type LineColumns, specOfSchedule } from '../../schedule-columns.ts';
import type { ScheduleFilter } from '../../store.ts';
import type { Context } from '../context.ts';
import type { Session } from '../database.ts';
import { transactAgain } from '../graph/again.ts';
import { Locks } from '../graph/locks.ts';
import { Tally } from '../graph/tally.ts';
import type { Transaction } from '../graph/transaction.ts';
import { numbers, texts } from '../values.ts';
import { lockSchedule, nowOf, openRuns, type ScheduleRow, toSchedule } from './rows.ts';
import { schedulesFrom } from './statements.ts';
import { writePlans } from './write-ticks.ts';

export async function createSchedule(context: Context, schedule: NewSchedule, signal: AbortSignal): Promise<Schedule> {
  const { sql, database, hints } = context;
  const { name, owner } = schedule;
  const made = await database.transaction(signal, async (session) => {
    const now = await nowOf(context, session);
    const begin = beginLines(schedule, now);
    const spec = JSON.stringify(specOfSchedule(schedule));
    const [row] = await session.query<{ id: number }>(sql.insertSchedule, [name, owner, spec, now]);
    if (row === undefined) throw scheduleExists(name);
    await insertLines(context, session, { id: row.id, keys: keysOf(schedule), ...begin });
    return await read(context, session, name);
  });
  hints.tell({ schedules: true });
  return made as Schedule;
}

interface NewLines {
  /** Of the schedule. */
  id: number;
  keys: readonly string[];
  cursor: number;
  nextDue: number;
}

async function insertLines({ sql }: Context, session: Session, { id, keys, cursor, nextDue }: NewLines): Promise<void> {
  if (keys.length > 0) await session.query(sql.insertLines, [id, texts(keys), cursor, nextDue]);
}

export async function changeSchedule(
  context: Context,
  name: string,
  change: ScheduleChange,
  signal: AbortSignal,
): Promise<Schedule | undefined> {
  const { changed, tally } = await transactAgain(context, signal, async (session) => {
    const ledger = new Tally();
    const transaction = { session, locks: new Locks(context, session), tally: ledger };
    const answer = await applyChange(context, transaction, { name, change });
    await ledger.write(context, session);
    return { changed: answer, tally: ledger };
  });
  tally.tell(context);
  if (changed !== undefined) context.hints.tell({ schedules: true });
  return changed;
}

async function applyChange(
  context: Context,
  transaction: Transaction,
  { name, change }: { name: string; change: ScheduleChange },
): Promise<Schedule | undefined> {
  const { sql } = context;
  const { session } = transaction;
  const before = await lockSchedule(context, session, name);
  if (before === undefined) return undefined;
  const now = await nowOf(context, session);
  const { schedule, begin, restart } = decideChange(before, change, now);
  const lines = await session.query<LineColumns>(sql.linesOf, [before.id]);
  await judgeAll(context, transaction, { schedule: before, lines, now });
  const { id, owner, updatedAt, pausedAt, pausedNote } = schedule;
  const spec = JSON.stringify(specOfSchedule(schedule));
  await session.query(sql.updateSchedule, [id, owner, spec, updatedAt, pausedAt, pausedNote]);
  const keys = new Set(keysOf(schedule));
  const [kept, gone] = [lines.filter(({ key }) => keys.has(key)), lines.filter(({ key }) => !keys.has(key))];
  if (gone.length > 0) await session.query(sql.deleteLines, [numbers(gone.map((line) => line.id))]);
  if (begin !== null) {
    const { cursor, nextDue } = begin;
    const restarted = kept.map((line) => ({ id: line.id, cursor, next_due: nextDue }));
    if (restart && kept.length > 0) await session.query(sql.moveLines, [JSON.stringify(restarted)]);
    const known = new Set(kept.map(({ key }) => key));
    await insertLines(context, session, { id, keys: [...keys].filter((key) => !known.has(key)), cursor, nextDue });
  }
  return await read(context, session, name);
}

/** What is due by what the schedule is now. */
async function judgeAll(
  context: Context,
  transaction: Transaction,
  { schedule, lines, now }: { schedule: Schedule; lines: readonly LineColumns[]; now: number },
): Promise<void> {
  const due = lines.filter(({ next_due }) => next_due !== null && next_due <= now);
  if (due.length === 0) return;
  const open = await openRuns(
    context,
    transaction.session,
    due.map(({ id }) => id),
  );
  const plans = due.map((row) => {
    const runs = open.get(row.id) ?? [];
    const request = { schedule, line: decodeLine(row), open: runs.length, now };
    return { schedule, open: runs, plan: planLine(request, Number.POSITIVE_INFINITY) };
  });
  await writePlans(context, transaction, plans);
}

export async function deleteSchedule(context: Context, name: string, signal: AbortSignal): Promise<boolean> {
  return await context.database.transaction(signal, async (session) => {
    const found = await lockSchedule(context, session, name);
    if (found !== undefined) await session.query(context.sql.deleteSchedule, [found.id]);
    return found !== undefined;
  });
}

export async function schedule(context: Context, name: string, signal: AbortSignal): Promise<Schedule | undefined> {
  const { database } = context;
  return await read(context, { query: (statement, values = []) => database.query(statement, values, signal) }, name);
}

async function read({ sql }: Context, session: Session, name: string): Promise<Schedule | undefined> {
  const [row] = await session.query<ScheduleRow>(sql.schedule, [name]);
  return row === undefined ? undefined : toSchedule(row);
}

export async function schedules(
  { database, schema }: Context,
  { owner, text: part }: ScheduleFilter,
  { after, limit }: { after: string | null; limit: number },
  signal: AbortSignal,
): Promise<Schedule[]> {
  const values: unknown[] = [];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const conditions = [
    ...(owner === undefined ? [] : [`s.owner = ${bind(owner)}`]),
    ...(part === undefined ? [] : [`position(${bind(part)} in s.name) > 0`]),
    ...(after === null ? [] : [`s.name > ${bind(after)}`]),
  ];
  const where = conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`;
  const text = `select ${schedulesFrom(schema)} ${where} order by s.name limit ${bind(limit)}::bigint`;
  return (await database.query<ScheduleRow>({ text }, values, signal)).map(toSchedule);
}

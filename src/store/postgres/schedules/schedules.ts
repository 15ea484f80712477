/** Creates, deletes and reads schedules. */

import { beginLines, keysOf } from '../../../core/schedule/change-schedule.ts';
import type { NewSchedule, Schedule } from '../../../core/schedule/schedule.ts';
import { scheduleExists } from '../../refusals.ts';
import { specOfSchedule } from '../../schedule-columns.ts';
import type { ScheduleFilter } from '../../schedule-store.ts';
import type { Context } from '../base/context.ts';
import { checkDefinition } from '../graph/definitions.ts';
import { schedulesFrom } from '../sql/schedules.ts';
import { insertLines, lockSchedule, nowOf, readSchedule, type ScheduleRow, toSchedule } from './rows.ts';

export async function createSchedule(context: Context, schedule: NewSchedule, signal: AbortSignal): Promise<Schedule> {
  const { sql, database, hints } = context;
  const { name, owner } = schedule;
  const made = await database.transaction(signal, async (session) => {
    const now = await nowOf(context, session);
    const begin = beginLines(schedule, now);
    await checkDefinition(context, session, schedule);
    const spec = JSON.stringify(specOfSchedule(schedule));
    const [row] = await session.query<{ id: number }>(sql.insertSchedule, [name, owner, spec, now]);
    if (row === undefined) throw scheduleExists(name);
    await insertLines(context, session, { id: row.id, keys: keysOf(schedule), ...begin });
    return await readSchedule(context, session, name);
  });
  hints.announce({ schedules: true });
  return made as Schedule;
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
  return await readSchedule(
    context,
    { query: (statement, values = []) => database.query(statement, values, signal) },
    name,
  );
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

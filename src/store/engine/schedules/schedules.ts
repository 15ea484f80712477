/** Creates, changes, deletes and reads schedules. A change is made in steps that fit into one transaction each. */

import { messageOf } from '../../../core/error.ts';
import { changeLines, dueBeforeChange } from '../../../core/schedule/change-lines.ts';
import { beginLines, changeSchedule as decideChange, keysOf } from '../../../core/schedule/change-schedule.ts';
import { postponeMs } from '../../../core/schedule/plan-due.ts';
import type { NewSchedule, Schedule } from '../../../core/schedule/schedule.ts';
import { scheduleExists } from '../../refusals.ts';
import { type ChangeRequest, nothingJudged, type ScheduleFilter, type ScheduleStep } from '../../schedule-store.ts';
import { columns } from '../../sql/columns.ts';
import { allOf, anyOf, contains, sql } from '../../sql/sql.ts';
import { many, one, type Stages, staged, type Tx } from '../../sql/tx.ts';
import { checkDefinition } from './definitions.ts';
import { type DueLine, judge, postponeLine } from './judge.ts';
import {
  insertLines,
  lineFrom,
  linesOf,
  lockSchedule,
  moveLines,
  readSchedule,
  readSchedules,
  schedule as scheduleRow,
  specOf,
} from './rows.ts';

const idRow = columns<{ id: number }>({ id: 'bigint' });

async function createSchedule(tx: Tx, wanted: NewSchedule): Promise<Schedule> {
  const { name, owner } = wanted;
  const now = await tx.instant();
  const begin = beginLines(wanted, now);
  await checkDefinition(tx, wanted);
  const values = scheduleRow.values({ name, owner, spec: specOf(wanted), createdAt: now, updatedAt: now });
  const made = await tx.get(idRow, sql`insert into schedule ${values} on conflict (name) do nothing returning id`);
  if (made === undefined) throw scheduleExists(name);
  await insertLines(tx, { scheduleId: made.id, keys: keysOf(wanted), ...begin });
  tx.effects.changedSchedule();
  return (await readSchedule(tx, name)) as Schedule;
}

async function deleteSchedule(tx: Tx, name: string): Promise<boolean> {
  const gone = await tx.get(idRow, sql`delete from schedule where name = ${name} returning id`);
  if (gone !== undefined) await tx.run(sql`delete from schedule_line where schedule_id = ${gone.id}`);
  return gone !== undefined;
}

function schedule(tx: Tx, name: string): Promise<Schedule | undefined> {
  return readSchedule(tx, name);
}

function schedules(
  tx: Tx,
  { owner, text }: ScheduleFilter,
  { after, limit }: { after: string | null; limit: number },
): Promise<Schedule[]> {
  const isAsked = allOf([
    owner === undefined ? undefined : sql`s.owner = ${owner}`,
    text === undefined ? undefined : sql`${contains('s.name', text)}`,
    after === null ? undefined : sql`s.name > ${after}`,
  ]);
  return readSchedules(tx, sql`where ${isAsked} order by s.name limit ${limit}`);
}

/** The only line of a step. */
interface Alone extends DueLine {
  /** True if the change leaves no time to try it again. */
  isLast: boolean;
}

/** A line that could not be written is postponed, or missed, in a second transaction. */
async function changeSchedule(stages: Stages, name: string, request: ChangeRequest): Promise<ScheduleStep | undefined> {
  let alone: Alone | null = null;
  try {
    return await stages.write((tx) => takeStep(tx, name, request, { note: (only) => (alone = only) }));
  } catch (error) {
    const failing = alone as Alone | null;
    if (failing === null || !stages.isOfRows(error)) throw error;
    const unable = { ...failing, error: messageOf(error) };
    return stages.write((tx) => takeStep(tx, name, request, { unable, note: () => undefined }));
  }
}

interface Attempt {
  /** The line that an earlier attempt could not write. */
  unable?: Alone & { error: string };
  note: (alone: Alone) => void;
}

async function takeStep(
  tx: Tx,
  name: string,
  { change, at: asked, ...pieces }: ChangeRequest,
  { unable, note }: Attempt,
): Promise<ScheduleStep | undefined> {
  if (change.type === 'edit') await checkDefinition(tx, change.edit);
  const before = await lockSchedule(tx, name);
  if (before === undefined) return undefined;
  const now = await tx.instant();
  const at = asked ?? now;
  const changed = decideChange(before, change, at);
  const lines = (await linesOf(tx, before.id)).map(lineFrom);
  const most = pieces.lines ?? pieces.limit;
  const due = dueBeforeChange({ before, changed, lines, at })
    .slice(0, most)
    .map((line) => ({ schedule: before, line, now }));
  const [first] = due;
  const answer = { ...nothingJudged(now), changed: first === undefined, at };
  const current = async () => (await readSchedule(tx, name)) as Schedule;
  if (first === undefined) {
    await writeChange(tx, { before, changed, lines, at });
    return { ...answer, schedule: await current() };
  }
  if (most === 1) note({ ...first, isLast: changed.closes(first.line.key) });
  const isAgain = unable?.line.id === first.line.id && unable.line.cursor === first.line.cursor;
  if (isAgain && !unable.isLast) {
    const retryInMs = postponeMs(unable);
    await postponeLine(tx, unable.line, retryInMs);
    return { ...answer, failed: [{ schedule: name, error: unable.error, retryInMs }], schedule: before };
  }
  const { closes } = changed;
  const judged = await judge(tx, due, { request: pieces, closes, ...(isAgain ? { unable: first.line.id } : {}) });
  const failed = isAgain ? [{ schedule: name, error: unable.error, retryInMs: null }] : judged.failed;
  return { ...answer, ...judged, failed, schedule: await current() };
}

async function writeChange(
  tx: Tx,
  about: Parameters<typeof changeLines<ReturnType<typeof lineFrom>>>[0],
): Promise<void> {
  const { schedule: now, begin } = about.changed;
  const { id, owner, updatedAt, pausedAt, pausedNote } = now as Schedule;
  const set = scheduleRow.set({ owner, spec: specOf(now), updatedAt, pausedAt, pausedNote });
  await tx.run(sql`update schedule set ${set} where id = ${id}`);
  const { gone, moves, newKeys } = changeLines(about);
  if (gone.length > 0) await tx.run(sql`delete from schedule_line where id ${anyOf(gone.map((line) => line.id))}`);
  await moveLines(tx, moves);
  if (begin !== null) await insertLines(tx, { scheduleId: id, keys: newKeys, ...begin });
  tx.effects.changedSchedule();
}

export const scheduleMethods = {
  createSchedule: many('write', createSchedule),
  changeSchedule: staged('write', changeSchedule),
  deleteSchedule: many('write', deleteSchedule),
  schedule: one('urgent', schedule),
  schedules: one('read', schedules),
};

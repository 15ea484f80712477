/** Rows of schedules, their lines and their ledger. A schedule's row is its lock: its lines and its ledger change under it. */

import type { LineState } from '../../../core/schedule/change-lines.ts';
import type { Schedule, ScheduleSpec } from '../../../core/schedule/schedule.ts';
import type { Run, Tick, TickVerdict } from '../../../core/schedule/tick.ts';
import { columns } from '../../sql/columns.ts';
import { anyOf, type Fragment, locking, sql } from '../../sql/sql.ts';
import type { Tx } from '../../sql/tx.ts';

export const NO_RUN: Run = { jobId: null, workflowId: null };

/** A schedule with the properties that have no column in `spec`. */
export interface StoredSchedule extends Omit<Schedule, keyof ScheduleSpec | 'nextRun'> {
  spec: ScheduleSpec;
}

export const schedule = columns<StoredSchedule>({
  id: 'bigint',
  name: 'text',
  owner: 'text',
  spec: 'json',
  createdAt: 'instant',
  updatedAt: 'instant',
  pausedAt: 'instant',
  pausedNote: 'text',
  lastRun: 'instant',
  lastVerdict: 'text',
  lastJobId: 'bigint',
  lastWorkflowId: 'bigint',
});
const listed = schedule.with<StoredSchedule & { nextDue: number | null }>({ nextDue: 'instant' });

export interface StoredLine {
  id: number;
  scheduleId: number;
  key: string;
  cursor: number;
  nextDue: number | null;
  tailId: number | null;
  tailVerdict: TickVerdict | null;
}

export const line = columns<StoredLine>({
  id: 'bigint',
  scheduleId: 'bigint',
  key: 'text',
  cursor: 'instant',
  nextDue: 'instant',
  tailId: 'bigint',
  tailVerdict: 'text',
});

export const tick = columns<Tick>({
  id: 'bigint',
  scheduleId: 'bigint',
  kind: 'text',
  key: 'text',
  scheduledFor: 'instant',
  through: 'instant',
  count: 'bigint',
  verdict: 'text',
  jobId: 'bigint',
  workflowId: 'bigint',
  latenessMs: 'bigint',
  createdAt: 'instant',
});

const openRun = columns<Run & { line: number }>({ line: 'bigint', jobId: 'bigint', workflowId: 'bigint' });

export function specOf(schedule: ScheduleSpec): ScheduleSpec {
  const { cron, everyMs, anchor, timezone, overlap, catchup, jitterMs, startAt, endAt, forEach, target } = schedule;
  const { notify = [], uses = null } = schedule;
  const spec = { cron, everyMs, anchor, timezone, overlap, catchup, jitterMs, startAt, endAt, forEach, target, notify };
  return uses === null ? spec : { ...spec, uses };
}

export function scheduleFrom({ spec, ...row }: StoredSchedule, nextDue: number | null = null): Schedule {
  return { ...spec, ...row, nextRun: row.pausedAt === null ? nextDue : null };
}

export function lineFrom({ id, key, cursor, nextDue, tailId, tailVerdict }: StoredLine): LineState {
  const tail = tailId === null || tailVerdict === null ? null : { tickId: tailId, verdict: tailVerdict };
  return { id, key, cursor, tail, nextDue };
}

/** Reads schedules `s` with the time of their next tick. `rest` begins behind the table. */
export async function readSchedules(tx: Tx, rest: Fragment): Promise<Schedule[]> {
  const rows = await tx.all(
    listed,
    sql`select ${schedule.of('s')}, (select min(l.next_due) from schedule_line l where l.schedule_id = s.id) as next_due
      from schedule s ${rest}`,
  );
  return rows.map(({ nextDue, ...row }) => scheduleFrom(row, nextDue));
}

export async function readSchedule(tx: Tx, name: string): Promise<Schedule | undefined> {
  return (await readSchedules(tx, sql`where s.name = ${name}`))[0];
}

/** Until the transaction ends, no other call judges, runs or changes the schedule. */
export async function lockSchedule(tx: Tx, name: string): Promise<Schedule | undefined> {
  const row = await tx.get(
    schedule,
    sql`select ${schedule} from schedule where name = ${name} ${locking('for update')}`,
  );
  return row === undefined ? undefined : scheduleFrom(row);
}

export function linesOf(tx: Tx, scheduleId: number): Promise<StoredLine[]> {
  return tx.all(line, sql`select ${line} from schedule_line where schedule_id = ${scheduleId} order by id`);
}

interface NewLines {
  scheduleId: number;
  keys: readonly string[];
  cursor: number;
  nextDue: number;
}

export async function insertLines(tx: Tx, { keys, ...shared }: NewLines): Promise<void> {
  if (keys.length === 0) return;
  await tx.run(
    sql`insert into schedule_line ${line.rows(
      keys.map((key) => ({ key })),
      shared,
    )}`,
  );
}

/** Moves lines to their next ticks. */
export async function moveLines(tx: Tx, moves: readonly Omit<LineState, 'key'>[]): Promise<void> {
  if (moves.length === 0) return;
  const rows = moves.map(({ id, cursor, nextDue, tail }) => ({
    id,
    cursor,
    nextDue,
    tailId: tail?.tickId ?? null,
    tailVerdict: tail?.verdict ?? null,
  }));
  await tx.run(sql`update schedule_line
    set cursor = i.cursor, next_due = i.next_due, tail_id = i.tail_id, tail_verdict = i.tail_verdict
    from ${line.input(rows)} i where schedule_line.id = i.id and ${sql`schedule_line.id ${anyOf(moves.map(({ id }) => id))}`}`);
}

/** The unfinished runs by line, jobs before workflows, oldest first. To be read under the lock of their schedules. */
export async function openRuns(tx: Tx, lines: readonly number[]): Promise<Map<number, Run[]>> {
  const open = new Map<number, Run[]>(lines.map((id) => [id, []]));
  const rows = await tx.all(
    openRun,
    sql`select ${openRun} from (
        select line, job_id, null as workflow_id from live where line ${anyOf(lines)}
        union all select line, null, id from workflow where line ${anyOf(lines)} and ended_at is null) r
      order by line, job_id is null, job_id, workflow_id`,
  );
  for (const { line: id, ...run } of rows) open.get(id)?.push(run);
  return open;
}

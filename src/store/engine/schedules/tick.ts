/** Judges due ticks. Concurrent instances take different schedules. */

import { messageOf } from '../../../core/error.ts';
import { postponeMs } from '../../../core/schedule/plan-due.ts';
import type { Schedule } from '../../../core/schedule/schedule.ts';
import type { Run } from '../../../core/schedule/tick.ts';
import type { Ticked, TickRequest } from '../../schedule-store.ts';
import { columns } from '../../sql/columns.ts';
import { anyOf, at, locking, sql, now as storeTime } from '../../sql/sql.ts';
import { type Stages, staged, type Tx } from '../../sql/tx.ts';
import { type DueLine, judge, postponeLine } from './judge.ts';
import { lineFrom, line as lineRow, scheduleFrom, schedule as scheduleRow } from './rows.ts';

interface Look {
  nextDue: number | null;
  /** True if runs that were replaced are still to be stopped. */
  stops: boolean;
  now: number;
}

const lookRow = columns<Look>({ nextDue: 'instant', stops: 'bool', now: 'instant' });
const stopRow = columns<{ id: number; stops: readonly Run[] }>({ id: 'bigint', stops: 'json' });
const foundRow = columns<{ line: number; id: number; due: number; now: number; name: string }>({
  line: 'bigint',
  id: 'bigint',
  due: 'instant',
  now: 'instant',
  name: 'text',
});

type Step = Pick<Ticked, 'ticks' | 'counts' | 'started' | 'contended' | 'failed'>;

const NOTHING: Step = { ticks: [], counts: {}, started: {}, contended: [], failed: [] };

/** An idle instance makes no more than the first look. */
async function tick(stages: Stages, request: TickRequest): Promise<Ticked> {
  const before = await look(stages.tx);
  const judged = isDue(before) ? await judgeDue(stages, request) : NOTHING;
  const after = isDue(before) ? await look(stages.tx) : before;
  const stops = after.stops
    ? await stages.tx.all(stopRow, sql`select ${stopRow} from tick where stops is not null order by id limit 1000`)
    : [];
  return {
    ...judged,
    nextDueAt: after.nextDue,
    now: after.now,
    more: isDue(after) && judged.ticks.length + judged.failed.length > 0,
    stop: stops.map(({ id, stops: runs }) => ({ tickId: id, runs })),
  };
}

async function look(tx: Tx): Promise<Look> {
  const row = await tx.get(
    lookRow,
    sql`select (select min(next_due) from schedule_line where next_due is not null) as next_due,
      exists (select 1 from tick where stops is not null) as stops, ${storeTime} as now`,
  );
  return row as Look;
}

function isDue({ nextDue, now }: Look): boolean {
  return nextDue !== null && nextDue <= now;
}

/** A line that cannot be written is postponed if it is the only one, unless another call has judged it meanwhile. */
async function judgeDue(stages: Stages, request: TickRequest): Promise<Step> {
  let begun: readonly DueLine[] = [];
  try {
    return await stages.write(async (tx) => {
      const { due, contended } = await takeDue(tx, request);
      begun = due;
      return due.length === 0 ? { ...NOTHING, contended } : { ...(await judge(tx, due, { request })), contended };
    });
  } catch (error) {
    const [alone] = begun;
    if (request.lines !== 1 || alone === undefined || !stages.isOfRows(error)) throw error;
    const retryInMs = postponeMs(alone);
    await stages.write((tx) => postponeLine(tx, alone.line, retryInMs));
    return { ...NOTHING, failed: [{ schedule: alone.schedule.name, error: messageOf(error), retryInMs }] };
  }
}

/** Locks due schedules that no other call has locked, and returns their due lines. */
async function takeDue(
  tx: Tx,
  { limit, lines: most = limit }: TickRequest,
): Promise<{ due: DueLine[]; contended: Ticked['contended'] }> {
  const found = await tx.all(
    foundRow,
    sql`select l.id as line, l.schedule_id as id, l.next_due as due, ${storeTime} as now,
        (select s.name from schedule s where s.id = l.schedule_id) as name
      from (select id, schedule_id, next_due from schedule_line where next_due <= ${storeTime}
        order by next_due, id limit ${most}) l
      order by l.next_due, l.id`,
  );
  const [first] = found;
  if (first === undefined) return { due: [], contended: [] };
  const { now } = first;
  // The first line of each schedule has waited longest.
  const waiting = new Map(found.toReversed().map((one) => [one.id, one]));
  const locked = await tx.all(
    scheduleRow,
    sql`select ${scheduleRow} from schedule where id ${anyOf([...waiting.keys()])}
      order by id ${locking('for update skip locked')}`,
  );
  const schedules = new Map<number, Schedule>(locked.map((row) => [row.id, scheduleFrom(row)]));
  // Read after the lock was taken: its previous holder may have judged them. By id, because a search for the due lines of each
  // schedule would read all due lines a thousand times while statistics are stale.
  const lines = await tx.all(
    lineRow,
    sql`select ${lineRow} from schedule_line where id ${anyOf(found.map(({ line }) => line))}
        and schedule_id ${anyOf([...schedules.keys()])} and next_due <= ${at(now)}
      order by next_due, id`,
  );
  for (const { scheduleId } of lines) waiting.delete(scheduleId);
  return {
    due: lines.map((row) => ({ schedule: schedules.get(row.scheduleId) as Schedule, line: lineFrom(row), now })),
    contended: [...waiting.values()].map(({ name, due }) => ({ schedule: name, dueAt: due })),
  };
}

export const tickMethods = { tick: staged('write', tick) };

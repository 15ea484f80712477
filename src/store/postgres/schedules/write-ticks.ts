/** Writes the plans of lines: rows of the ledger, the runs they start, and the lines' cursors. */

import { afterTick, type LastRun } from '../../../core/schedule/last-run.ts';
import type { LinePlan, PlannedTick } from '../../../core/schedule/plan-line.ts';
import type { Schedule } from '../../../core/schedule/schedule.ts';
import type { Run, Tick } from '../../../core/schedule/tick.ts';
import { tickNotices } from '../../../core/schedule/tick-notices.ts';
import { decodeTick, NO_RUN, type TickColumns } from '../../schedule-columns.ts';
import type { Context } from '../base/context.ts';
import type { Session } from '../base/database.ts';
import { numbers } from '../base/values.ts';
import { insertTickNotices } from '../cluster/notices.ts';
import type { Transaction } from '../graph/transaction.ts';
import { startRuns } from './start-runs.ts';

/** The ticks of one line, oldest first. */
export interface Decided {
  schedule: Schedule;
  ticks: readonly PlannedTick[];
  open: readonly Run[];
}

/** Returns the rows of each line. */
export async function writeTicks(
  context: Context,
  transaction: Transaction,
  decided: readonly Decided[],
): Promise<Tick[][]> {
  const { session } = transaction;
  const wanted = decided.flatMap(({ schedule, ticks, open }) =>
    ticks.flatMap(({ run }) => (run === null ? [] : [{ schedule, run, open }])),
  );
  const runs = wanted.length === 0 ? [] : await startRuns(context, transaction, wanted);
  const rows = decided.flatMap(({ schedule, ticks, open }) =>
    ticks.map((tick) => ({
      schedule,
      tick,
      run: tick.run === null ? NO_RUN : (runs.shift() as Run),
      stops: tick.run?.place === 'replace_open' ? open : null,
    })),
  );
  const stored = await store(context, session, rows);
  await noteLast(context, session, rows);
  await insertTickNotices(
    context,
    session,
    rows.flatMap(({ schedule, tick, run }) =>
      tickNotices(tick, run).map((notice) => ({ ...notice, schedule: schedule.name })),
    ),
  );
  return decided.map(({ ticks }) => stored.splice(0, ticks.length));
}

interface Row {
  schedule: Schedule;
  tick: PlannedTick;
  run: Run;
  stops: readonly Run[] | null;
}

async function store({ sql }: Context, session: Session, rows: readonly Row[]): Promise<Tick[]> {
  const added = rows.flatMap(({ tick: { addsTo, through, count } }) =>
    addsTo === null ? [] : [{ id: addsTo, through, count }],
  );
  const found = added.length === 0 ? [] : await session.query<{ id: number }>(sql.addToTicks, [JSON.stringify(added)]);
  // Retention may have deleted the row to which they would have been added.
  const there = new Set(found.map(({ id }) => id));
  const fresh = rows.filter(({ tick: { addsTo } }) => addsTo === null || !there.has(addsTo));
  const input = fresh.map(({ schedule, tick, run, stops }, place) => ({
    place,
    schedule_id: schedule.id,
    kind: tick.kind,
    key: tick.key,
    scheduled_for: tick.scheduledFor,
    through: tick.through,
    count: tick.count,
    verdict: tick.verdict,
    job_id: run.jobId,
    workflow_id: run.workflowId,
    lateness_ms: tick.latenessMs,
    stops,
  }));
  const inserted = input.length === 0 ? [] : await session.query<TickColumns>(sql.insertTicks, [JSON.stringify(input)]);
  const grown = there.size === 0 ? [] : await session.query<TickColumns>(sql.ticksByIds, [numbers([...there])]);
  const byId = new Map(grown.map((row) => [row.id, row]));
  return rows.map(({ tick: { addsTo } }) =>
    decodeTick((addsTo === null || !there.has(addsTo) ? inserted.shift() : byId.get(addsTo)) as TickColumns),
  );
}

/** One row per schedule. */
async function noteLast({ sql }: Context, session: Session, rows: readonly Row[]): Promise<void> {
  const notes = new Map<number, LastRun>();
  for (const { schedule, tick, run } of rows) {
    notes.set(schedule.id, afterTick(notes.get(schedule.id) ?? schedule, tick, run));
  }
  if (notes.size === 0) return;
  const input = [...notes].map(([id, { lastRun, lastVerdict, lastJobId, lastWorkflowId }]) => ({
    id,
    last_run: lastRun,
    last_verdict: lastVerdict,
    last_job_id: lastJobId,
    last_workflow_id: lastWorkflowId,
  }));
  await session.query(sql.noteLast, [JSON.stringify(input)]);
}

/** Writes the plans of lines and advances the lines. */
export async function writePlans(
  context: Context,
  transaction: Transaction,
  plans: readonly { schedule: Schedule; open: readonly Run[]; plan: LinePlan }[],
): Promise<(Tick & { schedule: string })[]> {
  if (plans.length === 0) return [];
  const written = await writeTicks(
    context,
    transaction,
    plans.map(({ schedule, open, plan }) => ({ schedule, open, ticks: plan.ticks })),
  );
  const moves = plans.map(({ plan: { line, cursor, nextDue } }, index) => {
    const last = written[index]?.at(-1);
    const tail = last === undefined ? line.tail : { tickId: last.id, verdict: last.verdict };
    const ends = { tail_id: tail?.tickId ?? null, tail_verdict: tail?.verdict ?? null };
    return { id: line.id, cursor, next_due: nextDue, ...ends };
  });
  await transaction.session.query(context.sql.moveLines, [JSON.stringify(moves)]);
  return plans.flatMap(({ schedule }, index) =>
    (written[index] ?? []).map((tick) => ({ ...tick, schedule: schedule.name })),
  );
}

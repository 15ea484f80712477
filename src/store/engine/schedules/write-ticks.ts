/** Writes the plans of lines: rows of the ledger, the runs they start, and the lines' cursors. */

import { afterTick, type LastRun } from '../../../core/schedule/last-run.ts';
import type { LinePlan, PlannedTick } from '../../../core/schedule/plan-line.ts';
import type { Schedule } from '../../../core/schedule/schedule.ts';
import type { Run, Tick } from '../../../core/schedule/tick.ts';
import { tickNotices } from '../../../core/schedule/tick-notices.ts';
import { anyOf, now, sql } from '../../sql/sql.ts';
import type { Tx } from '../../sql/tx.ts';
import { addTickNotices } from '../notices.ts';
import { moveLines, NO_RUN, schedule as scheduleRow, tick } from './rows.ts';
import { startRuns } from './start-runs.ts';

const tickWithStops = tick.with<Tick & { stops: readonly Run[] | null }>({ stops: 'json' });

/** The ticks of one line, oldest first. */
export interface Decided {
  schedule: Schedule;
  ticks: readonly PlannedTick[];
  open: readonly Run[];
}

interface Row {
  schedule: Schedule;
  tick: PlannedTick;
  run: Run;
  stops: readonly Run[] | null;
}

/** Returns the rows of each line. */
export async function writeTicks(tx: Tx, decided: readonly Decided[]): Promise<Tick[][]> {
  const wanted = decided.flatMap(({ schedule, ticks, open }) =>
    ticks.flatMap(({ run }) => (run === null ? [] : [{ schedule, run, open }])),
  );
  const runs = await startRuns(tx, wanted);
  const rows = decided.flatMap(({ schedule, ticks, open }) =>
    ticks.map((planned) => ({
      schedule,
      tick: planned,
      run: planned.run === null ? NO_RUN : (runs.shift() as Run),
      stops: planned.run?.place === 'replace_open' ? open : null,
    })),
  );
  const stored = await store(tx, rows);
  await noteLast(tx, rows);
  await addTickNotices(
    tx,
    rows.flatMap(({ schedule, tick: planned, run }) =>
      tickNotices(planned, run).map((notice) => ({ ...notice, schedule: schedule.name })),
    ),
  );
  return decided.map(({ ticks }) => stored.splice(0, ticks.length));
}

/** Adds to rows of the ledger, or makes new ones. Retention may have deleted the row to which ticks would have been added. */
async function store(tx: Tx, rows: readonly Row[]): Promise<Tick[]> {
  const added = rows.flatMap(({ tick: { addsTo, through, count } }) =>
    addsTo === null ? [] : [{ id: addsTo, through, count }],
  );
  const ids = anyOf(added.map(({ id }) => id));
  const grown =
    added.length === 0
      ? []
      : await tx.all(
          tick,
          sql`update tick set through = i.through, count = tick.count + i.count, created_at = ${now}
            from ${tick.input(added)} i where tick.id = i.id and tick.id ${ids} returning ${tick.of('tick')}`,
        );
  const byId = new Map(grown.map((row) => [row.id, row]));
  const fresh = rows.filter(({ tick: { addsTo } }) => addsTo === null || !byId.has(addsTo));
  const made = fresh.map(({ schedule, tick: planned, run, stops }) => {
    const { kind, key, scheduledFor, through, count, verdict, latenessMs } = planned;
    return { scheduleId: schedule.id, kind, key, scheduledFor, through, count, verdict, latenessMs, ...run, stops };
  });
  const inserted =
    made.length === 0
      ? []
      : await tx.all(tick, sql`insert into tick ${tickWithStops.rows(made, { createdAt: now })} returning ${tick}`);
  inserted.sort((a, b) => a.id - b.id);
  return rows.map(({ tick: { addsTo } }) => byId.get(addsTo ?? 0) ?? (inserted.shift() as Tick));
}

/** One row per schedule. */
async function noteLast(tx: Tx, rows: readonly Row[]): Promise<void> {
  const notes = new Map<number, LastRun>();
  for (const { schedule, tick: planned, run } of rows) {
    notes.set(schedule.id, afterTick(notes.get(schedule.id) ?? schedule, planned, run));
  }
  if (notes.size === 0) return;
  const input = [...notes].map(([id, { lastRun, lastVerdict, lastJobId, lastWorkflowId }]) => ({
    id,
    lastRun,
    lastVerdict,
    lastJobId,
    lastWorkflowId,
  }));
  await tx.run(sql`update schedule set last_run = i.last_run, last_verdict = i.last_verdict,
      last_job_id = i.last_job_id, last_workflow_id = i.last_workflow_id
    from ${scheduleRow.input(input)} i where schedule.id = i.id and schedule.id ${anyOf([...notes.keys()])}`);
}

/** Writes the plans of lines and advances the lines. */
export async function writePlans(
  tx: Tx,
  plans: readonly { schedule: Schedule; open: readonly Run[]; plan: LinePlan }[],
): Promise<(Tick & { schedule: string })[]> {
  if (plans.length === 0) return [];
  const written = await writeTicks(
    tx,
    plans.map(({ schedule, open, plan }) => ({ schedule, open, ticks: plan.ticks })),
  );
  await moveLines(
    tx,
    plans.map(({ plan: { line, cursor, nextDue } }, index) => {
      const last = written[index]?.at(-1);
      const tail = last === undefined ? line.tail : { tickId: last.id, verdict: last.verdict };
      return { id: line.id, cursor, nextDue, tail };
    }),
  );
  return plans.flatMap(({ schedule }, index) =>
    (written[index] ?? []).map((row) => ({ ...row, schedule: schedule.name })),
  );
}

/** Writes the plans of lines: rows of the ledger, the runs they start, and the lines' cursors. */

import { withBarrierStep } from '../../../core/schedule/barrier-step.ts';
import { afterTick } from '../../../core/schedule/last-run.ts';
import type { LinePlan, PlannedTick } from '../../../core/schedule/plan-line.ts';
import { jobForTick, workflowForTick } from '../../../core/schedule/run-for-tick.ts';
import type { Run } from '../../../core/schedule/tick.ts';
import { tickNotices } from '../../../core/schedule/tick-notices.ts';
import type { Tables } from '../base/tables.ts';
import { addTickNotice } from '../cluster/notices.ts';
import { addWorkflow } from '../graph/workflows.ts';
import { insert } from '../jobs/insert.ts';
import type { LineRow, ScheduleRow, TickRow } from './rows.ts';

/** The unfinished runs of a line, oldest first. */
export function openRuns(tables: Tables, line: number): Run[] {
  const jobs = tables.live.runsOf(line).map(({ id }) => ({ jobId: id, workflowId: null }));
  const workflows = [...tables.workflows.values()].filter((row) => row.line === line && row.endedAt === null);
  return [...jobs, ...workflows.map(({ id }) => ({ jobId: null, workflowId: id }))];
}

/** Writes the plan of a line and advances the line. */
export function writePlan(
  tables: Tables,
  row: ScheduleRow,
  line: LineRow,
  { plan, open }: { plan: LinePlan; open: readonly Run[] },
): TickRow[] {
  const written = writeTicks(tables, row, { ticks: plan.ticks, open });
  const last = written.at(-1);
  line.cursor = plan.cursor;
  if (last !== undefined) line.tail = { tickId: last.id, verdict: last.verdict };
  moveTo(tables, line, plan.nextDue);
  return written;
}

/** Makes the line due at this instant. */
export function moveTo(tables: Tables, line: LineRow, nextDue: number | null): void {
  tables.dueLines.delete(line);
  line.nextDue = nextDue;
  if (nextDue !== null) tables.dueLines.add(line);
}

/** Writes rows of one line, oldest first, and starts their runs. */
export function writeTicks(
  tables: Tables,
  row: ScheduleRow,
  { ticks, open }: { ticks: readonly PlannedTick[]; open: readonly Run[] },
): TickRow[] {
  let previous: Run | undefined;
  return ticks.map((planned) => {
    if (planned.run === null) return writeTick(tables, row, planned, NO_RUN);
    const { place } = planned.run;
    const follows = place === 'follow_previous' ? [previous as Run] : place === 'free' ? [] : open;
    previous = start(tables, row, planned, follows);
    const written = writeTick(tables, row, planned, previous);
    if (place === 'replace_open') {
      written.stops = open;
      tables.stopping.add(written);
    }
    return written;
  });
}

const NO_RUN: Run = { jobId: null, workflowId: null };

function start(tables: Tables, { target }: ScheduleRow, { run }: PlannedTick, follows: readonly Run[]): Run {
  if (run === null) return NO_RUN;
  const after = follows.flatMap((one) => jobsOf(tables, one));
  if ('job' in target) {
    const dependsOn = after.map((jobId) => ({ jobId, condition: 'ended' as const }));
    const { items } = insert(tables, [jobForTick(target.job, run, dependsOn)], {});
    return { jobId: items[0]?.job.id ?? null, workflowId: null };
  }
  const workflow = withBarrierStep(workflowForTick(target.workflow, run), after.length);
  const { id } = addWorkflow(tables, workflow, { line: run.tick.line, after });
  return { jobId: null, workflowId: id };
}

/** The jobs that have to end before a run has ended. Failed steps are among them: they may be retried. */
function jobsOf(tables: Tables, { jobId, workflowId }: Run): number[] {
  if (jobId !== null) return [jobId];
  const jobs = [...(tables.workflows.get(workflowId ?? 0)?.jobs ?? [])];
  return jobs.filter(({ groupId, status }) => groupId === null && status !== 'done').map(({ id }) => id);
}

function writeTick(tables: Tables, row: ScheduleRow, planned: PlannedTick, { jobId, workflowId }: Run): TickRow {
  for (const notice of tickNotices(planned, { jobId, workflowId })) addTickNotice(tables, row.name, notice);
  const now = tables.clock.now();
  const { run: _run, targets: _targets, addsTo, ...fields } = planned;
  const { lastRun, lastVerdict, lastJobId, lastWorkflowId } = afterTick(row, planned, { jobId, workflowId });
  Object.assign(row, { lastRun, lastVerdict, lastJobId, lastWorkflowId });
  const before = addsTo === null ? undefined : tables.ticks.get(addsTo);
  if (before !== undefined) {
    return Object.assign(before, { through: planned.through, count: before.count + planned.count, createdAt: now });
  }
  const id = (tables.lastId.tick += 1);
  const written: TickRow = {
    ...fields,
    id,
    scheduleId: row.id,
    jobId,
    workflowId,
    createdAt: now,
    stops: null,
    outcome: null,
  };
  tables.ticks.set(id, written);
  row.ledger.push(written);
  return written;
}

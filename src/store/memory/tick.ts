/** Ticks that are due: their verdicts, and what they start. */

import type { LinePlan, PlannedTick } from '../../core/schedule/plan-line.ts';
import { jobForTick, workflowForTick } from '../../core/schedule/run-for-tick.ts';
import type { Run } from '../../core/schedule/tick.ts';
import { tickNotices } from '../../core/schedule/tick-notices.ts';
import { countStarted, countVerdicts, planDue } from '../plan-due.ts';
import { isOfTheRow, messageOf, putOffMs } from '../put-off.ts';
import type { Ticked, TickRequest } from '../store.ts';
import { insert } from './insert.ts';
import { addTickNotice } from './notices.ts';
import type { LineRow, ScheduleRow, TickRow } from './schedule-row.ts';
import { toTick } from './schedule-row.ts';
import type { Tables } from './tables.ts';
import { addWorkflow } from './workflows.ts';

export function tick(tables: Tables, request: TickRequest): Ticked {
  const { limit, lines = limit } = request;
  const now = tables.clock.now();
  const due = dueLines(tables, now, lines).map((line) => ({
    line,
    schedule: tables.schedules.get(line.schedule) as ScheduleRow,
    open: openRuns(tables, line.id),
  }));
  const { plans, failed } = planDue(due, { ...request, now });
  const written: typeof plans = [];
  const ticks = plans.flatMap(({ due: one, plan }) => {
    const { schedule, line, open } = one;
    try {
      const rows = writePlan(tables, schedule, line, { plan, open });
      written.push({ due: one, plan });
      return rows.map((row) => ({ ...toTick(row), schedule: schedule.name }));
    } catch (error) {
      // What was written of others stays written: there is no way back here, so there is one way on for all.
      if (!isOfTheRow(error)) throw error;
      failed.push({ due: one, error: messageOf(error), againInMs: putOffMs({ schedule, line, now }) });
      return [];
    }
  });
  for (const { due: one, againInMs } of failed) moveTo(tables, one.line, now + againInMs);
  const next = tables.dueLines.peek()?.nextDue ?? null;
  return {
    ticks,
    counts: countVerdicts(written),
    started: countStarted(written),
    nextDueAt: next,
    now,
    more: next !== null && next <= now,
    stop: [...tables.stopping].map(({ id, stops }) => ({ tickId: id, runs: stops ?? [] })),
    contended: [],
    failed: failed.map(({ due: one, ...rest }) => ({ schedule: one.schedule.name, ...rest })),
  };
}

/** The longest due first. */
function dueLines(tables: Tables, now: number, limit: number): LineRow[] {
  const lines: LineRow[] = [];
  for (let line = tables.dueLines.peek(); line !== undefined; line = tables.dueLines.peek()) {
    if (lines.length === limit || (line.nextDue ?? Infinity) > now) break;
    lines.push(line);
    tables.dueLines.delete(line);
  }
  for (const line of lines) tables.dueLines.add(line);
  return lines;
}

function moveTo(tables: Tables, line: LineRow, nextDue: number | null): void {
  tables.dueLines.delete(line);
  line.nextDue = nextDue;
  if (nextDue !== null) tables.dueLines.add(line);
}

export function stoppedOthers(tables: Tables, tickIds: readonly number[]): void {
  for (const id of tickIds) {
    const row = tables.ticks.get(id);
    if (row === undefined) continue;
    row.stops = null;
    tables.stopping.delete(row);
  }
}

/** Of a line: its runs that have not ended, oldest first. */
export function openRuns(tables: Tables, line: number): Run[] {
  const jobs = tables.live.runsOf(line).map(({ id }) => ({ jobId: id, workflowId: null }));
  const workflows = [...tables.workflows.values()].filter((row) => row.line === line && row.endedAt === null);
  return [...jobs, ...workflows.map(({ id }) => ({ jobId: null, workflowId: id }))];
}

/** Writes what was decided about a line, and moves it on. */
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

/** Rows of one line, oldest first, with what they start. */
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
  const after = follows.flatMap((one) => unfinishedJobsOf(tables, one));
  if ('job' in target) {
    const dependsOn = after.map((jobId) => ({ jobId, condition: 'ended' as const }));
    const { items } = insert(tables, [jobForTick(target.job, run, dependsOn)], {});
    return { jobId: items[0]?.job.id ?? null, workflowId: null };
  }
  const { id } = addWorkflow(tables, workflowForTick(target.workflow, run), { line: run.tick.line, after });
  return { jobId: null, workflowId: id };
}

/** The jobs whose end is the end of a run. */
function unfinishedJobsOf(tables: Tables, { jobId, workflowId }: Run): number[] {
  if (jobId !== null) return [jobId];
  const jobs = [...(tables.workflows.get(workflowId ?? 0)?.jobs ?? [])];
  return jobs.filter(({ groupId, doneAt }) => groupId === null && doneAt === null).map(({ id }) => id);
}

function writeTick(tables: Tables, row: ScheduleRow, planned: PlannedTick, { jobId, workflowId }: Run): TickRow {
  for (const notice of tickNotices(planned, { jobId, workflowId })) addTickNotice(tables, row.name, notice);
  const now = tables.clock.now();
  const { run: _run, listeners: _listeners, addsTo, ...fields } = planned;
  row.lastVerdict = planned.verdict;
  if (planned.verdict === 'ran') {
    row.lastRun = Math.max(planned.scheduledFor, row.lastRun ?? planned.scheduledFor);
    Object.assign(row, { lastJobId: jobId, lastWorkflowId: workflowId });
  }
  const before = addsTo === null ? undefined : tables.ticks.get(addsTo);
  if (before !== undefined) {
    return Object.assign(before, { through: planned.through, count: before.count + planned.count, createdAt: now });
  }
  const id = (tables.lastId.tick += 1);
  const written: TickRow = { ...fields, id, scheduleId: row.id, jobId, workflowId, createdAt: now, stops: null };
  tables.ticks.set(id, written);
  row.ledger.push(written);
  return written;
}

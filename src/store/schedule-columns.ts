/** Encodes and decodes schedules and their ledger. Both databases store the same. */

import type { Status } from '../core/job.ts';
import type { LineState } from '../core/schedule/change-lines.ts';
import type { Line } from '../core/schedule/plan-line.ts';
import type { NewSchedule, Schedule, ScheduleSpec } from '../core/schedule/schedule.ts';
import type { Run, RunState, Tick, TickKind, TickVerdict } from '../core/schedule/tick.ts';

/** The properties of a schedule that have no column. */
export function specOfSchedule(schedule: NewSchedule): ScheduleSpec {
  const { cron, everyMs, anchor, timezone, overlap, catchup, jitterMs, startAt, endAt, forEach, target } = schedule;
  const { notify = [], uses = null } = schedule;
  const spec = { cron, everyMs, anchor, timezone, overlap, catchup, jitterMs, startAt, endAt, forEach, target, notify };
  return uses === null ? spec : { ...spec, uses };
}

export interface ScheduleColumns {
  id: number;
  name: string;
  owner: string | null;
  created_at: number;
  updated_at: number;
  paused_at: number | null;
  paused_note: string | null;
  last_run: number | null;
  last_verdict: TickVerdict | null;
  last_job_id: number | null;
  last_workflow_id: number | null;
}

export function decodeSchedule(row: ScheduleColumns, spec: ScheduleSpec, nextDue: number | null): Schedule {
  return {
    ...spec,
    id: row.id,
    name: row.name,
    owner: row.owner,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    pausedAt: row.paused_at,
    pausedNote: row.paused_note,
    nextRun: row.paused_at === null ? nextDue : null,
    lastRun: row.last_run,
    lastVerdict: row.last_verdict,
    lastJobId: row.last_job_id,
    lastWorkflowId: row.last_workflow_id,
  };
}

export interface LineColumns {
  id: number;
  schedule_id: number;
  key: string;
  cursor: number;
  next_due: number | null;
  tail_id: number | null;
  tail_verdict: TickVerdict | null;
}

export function decodeLine({ id, key, cursor, tail_id, tail_verdict }: LineColumns): Line {
  const tail = tail_id === null || tail_verdict === null ? null : { tickId: tail_id, verdict: tail_verdict };
  return { id, key, cursor, tail };
}

export function decodeLineState(row: LineColumns): LineState {
  return { ...decodeLine(row), nextDue: row.next_due };
}

export interface TickColumns {
  id: number;
  schedule_id: number;
  kind: TickKind;
  key: string;
  scheduled_for: number;
  through: number;
  count: number;
  verdict: TickVerdict;
  job_id: number | null;
  workflow_id: number | null;
  lateness_ms: number | null;
  created_at: number;
}

export function decodeTick(row: TickColumns): Tick {
  return {
    id: row.id,
    scheduleId: row.schedule_id,
    kind: row.kind,
    key: row.key,
    scheduledFor: row.scheduled_for,
    through: row.through,
    count: row.count,
    verdict: row.verdict,
    jobId: row.job_id,
    workflowId: row.workflow_id,
    latenessMs: row.lateness_ms,
    createdAt: row.created_at,
  };
}

export const NO_RUN: Run = { jobId: null, workflowId: null };

export interface RunStateColumns {
  /** The id of the tick. */
  id: number;
  status: Status;
  started_at: number | null;
  ended_at: number | null;
}

export function decodeRunState(row: RunStateColumns): RunState & { tickId: number } {
  return { tickId: row.id, status: row.status, startedAt: row.started_at, endedAt: row.ended_at };
}

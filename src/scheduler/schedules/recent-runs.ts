/** The runs of schedules: how they went, and when the next are due. */

import type { Status } from '../../core/job.ts';
import { oldestTicks } from '../../core/schedule/recurrence.ts';
import { recurrenceOf } from '../../core/schedule/recurrence-of.ts';
import type { Schedule } from '../../core/schedule/schedule.ts';
import type { RunState, Tick } from '../../core/schedule/tick.ts';
import type { Store } from '../../store/store.ts';

/** A row of the ledger with the state of its run; `null` if it has none. */
export type LedgerEntry = Tick & { run: RunState | null };

/** A schedule with the outcomes of its latest runs. */
export interface ScheduleDetail {
  schedule: Schedule;
  /** The status of the last run. */
  lastStatus: Status | null;
  /** The number of recent runs by status. */
  recent: Partial<Record<Status, number>>;
}

/** A schedule in the timeline. */
export interface ScheduleTimeline {
  schedule: ScheduleDetail;
  /** Newest first. */
  ticks: LedgerEntry[];
  /** The next ticks, oldest first; none while the schedule is paused. */
  next: number[];
}

export interface TimelineRequest {
  from: number;
  /** The end of the ticks to come. */
  until: number;
  /** The number of rows of the ledger, and of ticks to come, per schedule. */
  each: number;
}

/** The runs that `ScheduleDetail` counts. */
export const RECENT_RUNS = 20;

export async function withRuns<T extends Tick>(
  store: Store,
  ticks: readonly T[],
  signal: AbortSignal,
): Promise<(T & { run: RunState | null })[]> {
  const ran = ticks.filter(({ verdict }) => verdict === 'ran').map(({ id }) => id);
  const states = ran.length === 0 ? [] : await store.runStates(ran, signal);
  const byTick = new Map(states.map(({ tickId, ...state }) => [tickId, state]));
  return ticks.map((tick) => ({ ...tick, run: byTick.get(tick.id) ?? null }));
}

export async function detailsOf(
  store: Store,
  schedules: readonly Schedule[],
  signal: AbortSignal,
): Promise<ScheduleDetail[]> {
  const request = { schedules: schedules.map(({ name }) => name), from: 0, each: RECENT_RUNS };
  const ticks = schedules.length === 0 ? [] : await store.recentTicks(request, signal);
  const runs = Map.groupBy(await withRuns(store, ticks, signal), ({ schedule }) => schedule);
  const details = schedules.map((schedule) => detailOf(schedule, runs.get(schedule.name) ?? []));
  // After a backfill, which records older ticks, the last run may not be among the recent ones.
  const unknown = details.filter(({ lastStatus }) => lastStatus === null).map(({ schedule }) => schedule);
  const statusOf = await lastStatuses(store, unknown, signal);
  return details.map((detail) => ({ ...detail, lastStatus: detail.lastStatus ?? statusOf(detail.schedule) }));
}

/** `null` if the last run is pruned, or there was none. */
async function lastStatuses(
  store: Store,
  schedules: readonly Schedule[],
  signal: AbortSignal,
): Promise<(schedule: Schedule) => Status | null> {
  const jobIds = schedules.flatMap(({ lastJobId }) => lastJobId ?? []);
  const workflowIds = schedules.flatMap(({ lastWorkflowId }) => lastWorkflowId ?? []);
  const page = { before: null, limit: jobIds.length };
  const jobs = jobIds.length === 0 ? [] : await store.list({ ids: jobIds }, page, signal);
  const workflows = await Promise.all(workflowIds.map((id) => store.workflow(id, signal)));
  const ofJob = new Map(jobs.map(({ id, status }) => [id, status]));
  const ofWorkflow = new Map<number, Status>(
    workflows.flatMap((workflow) => (workflow === undefined ? [] : [[workflow.id, workflow.status] as const])),
  );
  return ({ lastJobId, lastWorkflowId }) =>
    (lastWorkflowId === null ? ofJob.get(lastJobId ?? 0) : ofWorkflow.get(lastWorkflowId)) ?? null;
}

export async function timelineOf(
  store: Store,
  schedules: readonly Schedule[],
  { from, until, each }: TimelineRequest,
  signal: AbortSignal,
): Promise<ScheduleTimeline[]> {
  const request = { schedules: schedules.map(({ name }) => name), from, each };
  const ticks = Map.groupBy(
    await withRuns(store, await store.recentTicks(request, signal), signal),
    ({ schedule }) => schedule,
  );
  const details = await detailsOf(store, schedules, signal);
  const now = await store.now(signal);
  return details.map((detail) => {
    const { schedule } = detail;
    const next = schedule.pausedAt === null ? oldestTicks(recurrenceOf(schedule), now, until, each) : [];
    return { schedule: detail, ticks: ticks.get(schedule.name) ?? [], next };
  });
}

/** `entries` are the newest first. */
function detailOf(schedule: Schedule, entries: readonly LedgerEntry[]): ScheduleDetail {
  const recent: ScheduleDetail['recent'] = {};
  for (const { run } of entries) if (run !== null) recent[run.status] = (recent[run.status] ?? 0) + 1;
  const isLast = ({ jobId, workflowId }: Tick): boolean =>
    jobId === schedule.lastJobId && workflowId === schedule.lastWorkflowId;
  return {
    schedule,
    lastStatus: entries.find((entry) => entry.run !== null && isLast(entry))?.run?.status ?? null,
    recent,
  };
}

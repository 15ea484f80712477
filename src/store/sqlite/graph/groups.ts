/** Groups: jobs that are never claimed, and end when all their items have. */

import { type GroupProgress, groupEnd, groupFailure, hasItemsLeft } from '../../../core/dag/group.ts';
import { endStep, reopenStep, type StepCounts, type StepEnd } from '../../../core/dag/workflow-status.ts';
import type { Reason, Status, TerminalStatus } from '../../../core/job.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';
import { revive } from '../jobs/revive.ts';

interface GroupRow extends StepCounts {
  job_id: number;
  total: number | null;
  max_parallel: number | null;
  inserted: number;
}

export interface GroupLive {
  status: Status;
  flags: number;
  due: number;
  cancel_requested_at: number | null;
}

export function groupOf({ database }: Context, groupId: number): GroupRow {
  const group = database.get<GroupRow>(sql.groups, groupId);
  if (group === undefined) throw new Error(`group ${groupId} is missing`);
  return group;
}

export function groupLiveOf({ database }: Context, groupId: number): GroupLive | undefined {
  return database.get<GroupLive>(sql.liveState, groupId);
}

/** Lets the grapher insert items of the group, or end it. */
export function askForItems({ database, effects }: Context, groupId: number): void {
  database.run(sql.setNeedsItems, groupId, 1);
  effects.changedGraph();
}

/** Counts the ends of items. Their group may insert further items, or end. */
export function endItems(context: Context, groupId: number, ends: readonly StepEnd[]): void {
  const group = ends.reduce<StepCounts>(endStep, groupOf(context, groupId)) as GroupRow;
  writeCounts(context, group);
  const live = groupLiveOf(context, groupId);
  if (live === undefined || finishGroup(context, group, live)) return;
  if (hasItemsLeft(group)) askForItems(context, groupId);
}

/** Counts an item as not ended. `end` is how it had ended. A group that has ended runs again. */
export function reopenItem(context: Context, groupId: number, end: StepEnd): void {
  const { database, effects, graphUpdate } = context;
  writeCounts(context, reopenStep(groupOf(context, groupId), end) as GroupRow);
  const final = database.get<{ status: TerminalStatus; started_at: number | null; due: number }>(sql.finalRun, groupId);
  if (final === undefined) return;
  database.run(sql.dropRun, groupId, 0);
  database.run(sql.dropResult, groupId);
  const { flags } = revive(context, groupId, {
    status: 'running',
    dueAt: final.due,
    attempt: 0,
    counters: { failures: 0, interruptions: 0, snoozes: 0, losses: 0 },
    workerId: null,
    startedAt: final.started_at,
  });
  graphUpdate.reopenedByCascade(context, { jobId: groupId, flags, status: final.status });
  askForItems(context, groupId);
  effects.changedJob(groupId);
}

/** Ends a running group that has nothing more to wait for, with the results of its items. Returns false if it goes on. */
export function finishGroup(context: Context, group: GroupRow, live: GroupLive): boolean {
  const status = live.status === 'running' ? groupEnd(progressOf(group, live)) : undefined;
  if (status === undefined) return false;
  if (status !== 'cancelled') context.database.run(sql.joinResults, group.job_id);
  endGroup(context, { groupId: group.job_id, flags: live.flags }, outcomeOf(context, group.job_id, status));
  return true;
}

interface GroupEnd {
  status: TerminalStatus;
  reason: Reason | null;
  error: string | null;
}

/** Ends a group. Its children are left to the cascade. */
export function endGroup(
  context: Context,
  { groupId, flags }: { groupId: number; flags: number },
  { status, reason, error }: GroupEnd,
): void {
  const { database, now, effects, graphUpdate } = context;
  database.run(sql.endWaiting, groupId, now, status, reason, error);
  database.run(sql.endLive, groupId);
  database.run(sql.setNeedsItems, groupId, 0);
  effects.changedJob(groupId);
  effects.endedByGraph(groupId);
  graphUpdate.endedByCascade(context, { jobId: groupId, flags, status });
}

function writeCounts({ database }: Context, { job_id, open, fine, failed, cancelled }: GroupRow): void {
  database.run(sql.writeGroups, job_id, open, fine, failed, cancelled);
}

function progressOf({ total, inserted, ...counts }: GroupRow, { cancel_requested_at }: GroupLive): GroupProgress {
  return { total, inserted, counts, cancelRequested: cancel_requested_at !== null };
}

function outcomeOf({ database }: Context, groupId: number, status: TerminalStatus): GroupEnd {
  if (status === 'done') return { status, reason: null, error: null };
  if (status !== 'failed') return { status, reason: 'cancelled', error: null };
  const item = database.get<Parameters<typeof groupFailure>[0]>(sql.firstFailures, groupId);
  if (item === undefined) throw new Error(`group ${groupId} has no failed item`);
  return { status, ...groupFailure(item) };
}

/** Groups: jobs that are never claimed, and end when all their items have. */

import { groupEnd, groupFailure, hasItemsLeft } from '../../../core/dag/group.ts';
import { cascadeModeOf } from '../../../core/dag/propagate.ts';
import { endStep, reopenStep, type StepCounts } from '../../../core/dag/workflow-status.ts';
import type { Reason, TerminalStatus } from '../../../core/job.ts';
import { FLAG } from '../../flags.ts';
import type { Context } from '../base/context.ts';
import type { Session } from '../base/database.ts';
import { numbers } from '../base/values.ts';
import type { TransactionEffects } from './effects.ts';
import { type GroupLive, lockRelatedJobs } from './related-jobs.ts';
import { lanesOf } from './reopen.ts';
import type { Transaction } from './transaction.ts';

/** How an item ended, or had ended before it was reopened. */
export interface ItemEnd {
  groupId: number;
  status: TerminalStatus;
  continueOnFailure: boolean;
}

export interface GroupRow {
  job_id: number;
  max_parallel: number | null;
  needs_items: boolean;
  inserted: number;
  open_items: number;
  fine_items: number;
  failed_items: number;
  cancelled_items: number;
  /** `null` until the list is known. */
  total: number | null;
}

export function countsOf(row: GroupRow): StepCounts {
  return { open: row.open_items, fine: row.fine_items, failed: row.failed_items, cancelled: row.cancelled_items };
}

/** Counts the ends of items. Their groups are locked; each may end, or insert further items. */
export async function endItems(
  context: Context,
  { session, effects }: Transaction,
  items: readonly ItemEnd[],
): Promise<void> {
  const { sql } = context;
  const ids = numbers([...new Set(items.map(({ groupId }) => groupId))]);
  const lives = new Map((await session.query<GroupLive>(sql.lockGroups, [ids])).map((row) => [row.job_id, row]));
  const groups = (await session.query<GroupRow>(sql.groups, [ids])).map((group) => {
    const counts = items.filter(({ groupId }) => groupId === group.job_id).reduce(endStep, countsOf(group));
    const live = lives.get(group.job_id);
    return { group, counts, live, needsItems: live !== undefined && hasItemsLeft(group) };
  });
  await writeGroups(context, session, groups);
  if (groups.some(({ needsItems }) => needsItems)) effects.changedGraph();
  const ends = groups.flatMap(({ group, counts, live }) => {
    if (live === undefined) return [];
    const status = endOf(group, counts, live);
    return status === undefined ? [] : [{ live, status }];
  });
  await endGroups(context, session, ends, effects);
}

/** Returns how the group ends now, `undefined` if it goes on. */
export function endOf(group: GroupRow, counts: StepCounts, live: GroupLive): TerminalStatus | undefined {
  return groupEnd({ total: group.total, inserted: group.inserted, counts, cancelRequested: live.cancelled });
}

interface GroupEnd {
  live: GroupLive;
  status: TerminalStatus;
  /** Set where the list of items could not be found. */
  failure?: { reason: Reason | null; error: string };
}

export async function endGroups(
  context: Context,
  session: Session,
  ends: readonly GroupEnd[],
  effects: TransactionEffects,
): Promise<void> {
  if (ends.length === 0) return;
  const { sql } = context;
  const failed = ends.filter(({ status, failure }) => status === 'failed' && failure === undefined);
  type Failure = { group_id: number; index: number; reason: Reason | null; error: string | null };
  const failures =
    failed.length === 0
      ? []
      : await session.query<Failure>(sql.firstFailures, [numbers(failed.map(({ live }) => live.job_id))]);
  const firstFailures = new Map(failures.map((failure) => [failure.group_id, groupFailure(failure)]));
  const causes = ends.map(
    ({ live, status, failure }) =>
      failure ?? firstFailures.get(live.job_id) ?? { reason: status === 'cancelled' ? 'cancelled' : null, error: null },
  );
  const ids = numbers(ends.map(({ live }) => live.job_id));
  const [written] = await session.query<{ now: number }>(sql.endGroups, [
    ids,
    ends.map(({ status }) => status),
    causes.map(({ reason }) => reason),
    causes.map(({ error }) => error),
  ]);
  effects.at(written?.now ?? 0);
  type Row = { id: number; workflow_id: number | null; continues: boolean };
  const rows = new Map((await session.query<Row>(sql.scopes, [ids])).map((row) => [row.id, row]));
  for (const { live, status } of ends) {
    const row = rows.get(live.job_id);
    effects.changedJob(live.job_id);
    effects.endedByGraph(live.job_id);
    effects.noteEnd({ jobId: live.job_id, flags: live.flags, status });
    effects.stepEnded(row?.workflow_id ?? null, { status, continueOnFailure: row?.continues ?? false });
    if (!(live.flags & FLAG.hasChildren)) continue;
    effects.queueCascade({ id: live.job_id, mode: cascadeModeOf(status, (live.flags & FLAG.keepChildren) !== 0) });
  }
}

/** Counts items as not ended. Their groups are locked; those that have ended run again. */
export async function reopenItems(
  context: Context,
  transaction: Transaction,
  items: readonly ItemEnd[],
): Promise<void> {
  const { session, locks, effects } = transaction;
  const ids = [...new Set(items.map(({ groupId }) => groupId))];
  const groups = (await session.query<GroupRow>(context.sql.groups, [numbers(ids)])).map((group) => ({
    group,
    counts: items.filter(({ groupId }) => groupId === group.job_id).reduce(reopenStep, countsOf(group)),
    needsItems: group.needs_items,
  }));
  await writeGroups(context, session, groups);
  const { related } = await lockRelatedJobs(context, transaction, { ids: [], groupIds: ids });
  const revived = [...related.values()].filter(({ ended }) => ended);
  if (revived.length === 0) return;
  const lanes = await lanesOf(context, session, revived);
  await session.query(context.sql.reviveGroups, [numbers(revived.map(({ id }) => id)), numbers(lanes)]);
  locks.made(revived.map(({ id }) => id));
  effects.changedGraph();
  for (const { id, workflowId, status, continueOnFailure } of revived) {
    effects.changedJob(id);
    effects.stepReopened(workflowId, { status: status as TerminalStatus, continueOnFailure });
    effects.queueCascade({ id, mode: 'reopened' });
  }
}

async function writeGroups(
  { sql }: Context,
  session: Session,
  groups: readonly { group: GroupRow; counts: StepCounts; needsItems: boolean }[],
): Promise<void> {
  await session.query(sql.writeGroups, [
    numbers(groups.map(({ group }) => group.job_id)),
    groups.map(({ needsItems }) => needsItems),
    numbers(groups.map(({ counts }) => counts.open)),
    numbers(groups.map(({ counts }) => counts.fine)),
    numbers(groups.map(({ counts }) => counts.failed)),
    numbers(groups.map(({ counts }) => counts.cancelled)),
  ]);
}

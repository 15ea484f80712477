/** Groups and their items: a group is never claimed, it ends when all its items have. */

import { groupEnd, groupFailure } from '../../../core/dag/group.ts';
import { endStep, reopenStep, type StepCounts } from '../../../core/dag/workflow-status.ts';
import type { Reason, TerminalStatus } from '../../../core/job.ts';
import { FLAG } from '../../flags.ts';
import type { Context } from '../base/context.ts';
import type { Session } from '../base/database.ts';
import { numbers } from '../base/values.ts';
import { lanesOf } from './carrier.ts';
import { type GroupRow, lockKin } from './kin.ts';
import type { Tally } from './tally.ts';
import type { Transaction } from './transaction.ts';

/** An item that has just ended, or that waits again after such an end. */
export interface ItemEnd {
  groupId: number;
  status: TerminalStatus;
  continueOnFailure: boolean;
}

export interface FanRow {
  job_id: number;
  max_parallel: number | null;
  due: boolean;
  inserted: number;
  open_items: number;
  fine_items: number;
  failed_items: number;
  cancelled_items: number;
  /** `null` until the list is known. */
  total: number | null;
}

export function countsOf(row: FanRow): StepCounts {
  return { open: row.open_items, fine: row.fine_items, failed: row.failed_items, cancelled: row.cancelled_items };
}

/** The groups are locked. Those that have nothing more to wait for end; others may have room for further items. */
export async function endItems(
  context: Context,
  { session, tally }: Transaction,
  items: readonly ItemEnd[],
): Promise<void> {
  const { sql } = context;
  const ids = numbers([...new Set(items.map(({ groupId }) => groupId))]);
  const groups = new Map((await session.query<GroupRow>(sql.lockGroups, [ids])).map((row) => [row.job_id, row]));
  const fans = (await session.query<FanRow>(sql.fans, [ids])).map((fan) => {
    const counts = items.filter(({ groupId }) => groupId === fan.job_id).reduce(endStep, countsOf(fan));
    const group = groups.get(fan.job_id);
    return { fan, counts, group, due: group !== undefined && fan.inserted < (fan.total ?? 0) };
  });
  await writeFans(context, session, fans);
  if (fans.some(({ due }) => due)) tally.wakeExpander();
  const ends = fans.flatMap(({ fan, counts, group }) => {
    if (group === undefined) return [];
    const status = endOf(fan, counts, group);
    return status === undefined ? [] : [{ group, status }];
  });
  await endGroups(context, session, ends, tally);
}

/** How the group ends now, if it does. */
export function endOf(fan: FanRow, counts: StepCounts, group: GroupRow): TerminalStatus | undefined {
  return groupEnd({ total: fan.total, inserted: fan.inserted, counts, cancelRequested: group.cancelled });
}

export interface GroupEnd {
  group: GroupRow;
  status: TerminalStatus;
  /** Of a group that could have no items. */
  failure?: { reason: Reason | null; error: string };
}

export async function endGroups(
  context: Context,
  session: Session,
  ends: readonly GroupEnd[],
  tally: Tally,
): Promise<void> {
  if (ends.length === 0) return;
  const { sql } = context;
  const failed = ends.filter(({ status, failure }) => status === 'failed' && failure === undefined);
  type Failure = { group_id: number; index: number; reason: Reason | null; error: string | null };
  const failures =
    failed.length === 0
      ? []
      : await session.query<Failure>(sql.firstFailures, [numbers(failed.map(({ group }) => group.job_id))]);
  const told = new Map(failures.map((failure) => [failure.group_id, groupFailure(failure)]));
  const causes = ends.map(
    ({ group, status, failure }) =>
      failure ?? told.get(group.job_id) ?? { reason: status === 'cancelled' ? 'cancelled' : null, error: null },
  );
  const ids = numbers(ends.map(({ group }) => group.job_id));
  const [written] = await session.query<{ now: number }>(sql.endGroups, [
    ids,
    ends.map(({ status }) => status),
    causes.map(({ reason }) => reason),
    causes.map(({ error }) => error),
  ]);
  tally.at(written?.now ?? 0);
  type Row = { id: number; workflow_id: number | null; continues: boolean };
  const rows = new Map((await session.query<Row>(sql.kin, [ids])).map((row) => [row.id, row]));
  for (const { group, status } of ends) {
    const row = rows.get(group.job_id);
    tally.changed(group.job_id);
    tally.note({ jobId: group.job_id, flags: group.flags, status });
    tally.ended(row?.workflow_id ?? null, { status, continueOnFailure: row?.continues ?? false });
    if (!(group.flags & FLAG.hasChildren)) continue;
    const cancelled = status === 'cancelled' && !(group.flags & FLAG.keepDependents);
    tally.queue({ id: group.job_id, mode: cancelled ? 'cancelled' : 'ended' });
  }
}

/** Items that wait again. Their groups are locked; those that had ended run again. */
export async function reopenItems(
  context: Context,
  transaction: Transaction,
  items: readonly ItemEnd[],
): Promise<void> {
  const { session, locks, tally } = transaction;
  const ids = [...new Set(items.map(({ groupId }) => groupId))];
  const fans = (await session.query<FanRow>(context.sql.fans, [numbers(ids)])).map((fan) => ({
    fan,
    counts: items.filter(({ groupId }) => groupId === fan.job_id).reduce(reopenStep, countsOf(fan)),
    due: fan.due,
  }));
  await writeFans(context, session, fans);
  const { kin } = await lockKin(context, transaction, { ids: [], groupIds: ids });
  const revived = [...kin.values()].filter(({ ended }) => ended);
  if (revived.length === 0) return;
  const lanes = await lanesOf(context, session, revived);
  await session.query(context.sql.reviveGroups, [numbers(revived.map(({ id }) => id)), numbers(lanes)]);
  locks.made(revived.map(({ id }) => id));
  tally.wakeExpander();
  for (const { id, workflowId, status, continueOnFailure } of revived) {
    tally.changed(id);
    tally.reopened(workflowId, { status: status as TerminalStatus, continueOnFailure });
    tally.queue({ id, mode: 'reopened' });
  }
}

async function writeFans(
  { sql }: Context,
  session: Session,
  fans: readonly { fan: FanRow; counts: StepCounts; due: boolean }[],
): Promise<void> {
  await session.query(sql.writeFans, [
    numbers(fans.map(({ fan }) => fan.job_id)),
    fans.map(({ due }) => due),
    numbers(fans.map(({ counts }) => counts.open)),
    numbers(fans.map(({ counts }) => counts.fine)),
    numbers(fans.map(({ counts }) => counts.failed)),
    numbers(fans.map(({ counts }) => counts.cancelled)),
  ]);
}

/** Groups: jobs that are never claimed, and end when all their items have. */

import { groupEnd, groupFailure, hasItemsLeft } from '../../../core/dag/group.ts';
import { cascadeModeOf } from '../../../core/dag/propagate.ts';
import { endStep, reopenStep, type StepCounts } from '../../../core/dag/workflow-status.ts';
import type { Reason, TerminalStatus } from '../../../core/job.ts';
import { FLAG } from '../../flags.ts';
import { columns } from '../../sql/columns.ts';
import { alsoAnyOf, anyOf, eachOf, locking, raw, type Spelling, spelled, sql } from '../../sql/sql.ts';
import type { Tx } from '../../sql/tx.ts';
import { continues, listed, lookedUp } from '../standing.ts';
import { endLive } from './end-live.ts';
import { lockRelatedJobs } from './related-jobs.ts';
import { type Place, placesToWait, revive } from './revive.ts';

/** How an item ended, or had ended before it was reopened. */
export interface ItemEnd {
  groupId: number;
  status: TerminalStatus;
  continueOnFailure: boolean;
}

export interface GroupLive {
  jobId: number;
  flags: number;
  cancelled: boolean;
}

export interface Group {
  jobId: number;
  maxParallel: number | null;
  needsItems: boolean;
  inserted: number;
  openItems: number;
  fineItems: number;
  failedItems: number;
  cancelledItems: number;
  /** `null` until the list is known. */
  total: number | null;
}

const liveRow = columns<GroupLive>({ jobId: 'bigint', flags: 'int', cancelled: 'bool' });

export const groupRow = columns<Group>({
  jobId: 'bigint',
  maxParallel: 'int',
  needsItems: 'bool',
  inserted: 'int',
  openItems: 'int',
  fineItems: 'int',
  failedItems: 'int',
  cancelledItems: 'int',
  total: 'int',
});

/** The columns of a group, with the number of its items. */
export const groupColumns: Spelling = spelled({
  sqlite: sql`${groupRow}`,
  postgres: raw(`job_id, max_parallel, needs_items, inserted, open_items, fine_items, failed_items, cancelled_items,
    case when items is not null then jsonb_array_length(items) end as total`),
});

/** Locks those of the groups that run. Groups are locked after all other jobs, and change under their lock. */
export function lockGroups(tx: Tx, ids: readonly number[]): Promise<GroupLive[]> {
  return tx.all(
    liveRow,
    sql`select job_id, flags, cancel_requested_at is not null as cancelled from live
      where job_id ${anyOf(ids)} and ${listed} = 'running' and flags & ${raw(`${FLAG.group}`)} <> 0
      order by job_id ${locking('for update')}`,
  );
}

export function countsOf(group: Group): StepCounts {
  const { openItems, fineItems, failedItems, cancelledItems } = group;
  return { open: openItems, fine: fineItems, failed: failedItems, cancelled: cancelledItems };
}

/** Counts the ends of items. Their groups are locked; each may end, or insert further items. */
export async function endItems(tx: Tx, items: readonly ItemEnd[]): Promise<void> {
  const byGroup = Map.groupBy(items, ({ groupId }) => groupId);
  const lives = new Map((await lockGroups(tx, [...byGroup.keys()])).map((live) => [live.jobId, live]));
  const groups = (await readGroups(tx, [...byGroup.keys()])).map((group) => {
    const counts = (byGroup.get(group.jobId) ?? []).reduce(endStep, countsOf(group));
    const live = lives.get(group.jobId);
    return { group, counts, live, needsItems: live !== undefined && hasItemsLeft(group) };
  });
  await writeGroups(tx, groups);
  if (groups.some(({ needsItems }) => needsItems)) tx.effects.changedGraph();
  const ends = groups.flatMap(({ group, counts, live }) => {
    const status = live === undefined ? undefined : endOf(group, counts, live);
    return live === undefined || status === undefined ? [] : [{ live, status }];
  });
  await endGroups(tx, ends);
}

function readGroups(tx: Tx, ids: readonly number[]): Promise<Group[]> {
  return tx.all(groupRow, sql`select ${groupColumns} from job_group where job_id ${anyOf(ids)}`);
}

/** Returns how the group ends now, `undefined` if it goes on. */
export function endOf({ total, inserted }: Group, counts: StepCounts, live: GroupLive): TerminalStatus | undefined {
  return groupEnd({ total, inserted, counts, cancelRequested: live.cancelled });
}

interface GroupEnd {
  live: GroupLive;
  status: TerminalStatus;
  /** Set where the list of items could not be found. */
  failure?: { reason: Reason | null; error: string };
}

interface FailedItem {
  groupId: number;
  groupIndex: number;
  reason: Reason | null;
  error: string | null;
}

const failedItem = columns<FailedItem>({ groupId: 'bigint', groupIndex: 'int', reason: 'text', error: 'text' });
const scopeRow = columns<{ id: number; workflowId: number | null; continueOnFailure: boolean }>({
  id: 'bigint',
  workflowId: 'bigint',
  continueOnFailure: 'bool',
});

/** The results of the items of group `i`, in their order; `null` for an item without a result. */
const joinedResults = spelled({
  sqlite: sql`(select json_group_array(json(coalesce(x.value, 'null')) order by j.group_index)
    from job j left join result x on x.job_id = j.id where j.group_id = i.value)`,
  postgres: sql`(select coalesce(jsonb_agg(x.value order by j.group_index), '[]')
    from job j left join result x on x.job_id = j.id where j.group_id = i.value)`,
});

/** Ends groups, with the results of their items. Their children are left to the cascade. */
export async function endGroups(tx: Tx, ends: readonly GroupEnd[]): Promise<void> {
  if (ends.length === 0) return;
  const { effects, graphUpdate } = tx;
  const ids = ends.map(({ live }) => live.jobId);
  const failures = await firstFailures(tx, ends);
  const rows = ends.map(({ live: { jobId }, status, failure }) => {
    const cause = failure ?? failures.get(jobId);
    return {
      jobId,
      status,
      ...(cause ?? { reason: status === 'cancelled' ? ('cancelled' as const) : null, error: null }),
    };
  });
  const joined = ends.filter(({ status, failure }) => status !== 'cancelled' && failure === undefined);
  const written = await tx.runTogether([
    ...endLive(rows),
    sql`update job_group set needs_items = false where job_id ${anyOf(ids)}`,
    sql`insert into result (job_id, value) select i.value, ${joinedResults} from ${eachOf(joined.map(({ live }) => live.jobId))}`,
  ]);
  graphUpdate.at(written.now);
  const scopes = await tx.all(
    scopeRow,
    sql`select j.id, j.workflow_id, ${continues} as continue_on_failure from job j where j.id ${anyOf(ids)}`,
  );
  const byId = new Map(scopes.map((scope) => [scope.id, scope]));
  for (const { live, status } of ends) {
    const { jobId, flags } = live;
    const { workflowId = null, continueOnFailure = false } = byId.get(jobId) ?? {};
    effects.changedJob(jobId);
    effects.endedByGraph(jobId);
    graphUpdate.waitingEnded({ jobId, flags, status });
    graphUpdate.stepEnded(workflowId, { status, continueOnFailure });
    if (!(flags & FLAG.hasChildren)) continue;
    graphUpdate.queueCascade(jobId, cascadeModeOf(status, (flags & FLAG.keepChildren) !== 0));
  }
}

/** The reasons of groups that fail: those of the first item that failed. */
async function firstFailures(tx: Tx, ends: readonly GroupEnd[]): Promise<Map<number, ReturnType<typeof groupFailure>>> {
  const failed = ends.filter(({ status, failure }) => status === 'failed' && failure === undefined);
  if (failed.length === 0) return new Map();
  const rows = await tx.all(
    failedItem,
    sql`select j.group_id, j.group_index, r.reason, r.error
      from (select i.value as group_id, (
            select min(o.group_index) from job o join run f on f.job_id = o.id and f.status = 'failed'
            where o.group_id = i.value) as group_index
          from ${eachOf(failed.map(({ live }) => live.jobId))} ${lookedUp}) g
        join job j on j.group_id = g.group_id and j.group_index = g.group_index
        join run r on r.job_id = j.id and r.status = 'failed'`,
  );
  return new Map(
    rows.map(({ groupId, groupIndex, ...cause }) => [groupId, groupFailure({ index: groupIndex, ...cause })]),
  );
}

/** Counts items as not ended. Their groups are locked; those that have ended run again. */
export async function reopenItems(tx: Tx, items: readonly ItemEnd[]): Promise<void> {
  const { effects, graphUpdate } = tx;
  const byGroup = Map.groupBy(items, ({ groupId }) => groupId);
  const groupIds = [...byGroup.keys()];
  const groups = (await readGroups(tx, groupIds)).map((group) => ({
    group,
    counts: (byGroup.get(group.jobId) ?? []).reduce(reopenStep, countsOf(group)),
    needsItems: group.needsItems,
  }));
  await writeGroups(tx, groups);
  const related = await lockRelatedJobs(tx, { ids: [], groupIds });
  const ended = [...related.values()].filter((job) => job.ended);
  if (ended.length === 0) return;
  const places = await placesToWait(
    tx,
    ended.map(({ id }) => id),
  );
  await revive(
    tx,
    ended.map(({ id, counters, due }) => {
      return { jobId: id, status: 'running', restarts: false, due, counters, ...(places.get(id) as Place) };
    }),
  );
  for (const { id, workflowId, status, continueOnFailure } of ended) {
    effects.changedJob(id);
    graphUpdate.stepReopened(workflowId, { status: status as TerminalStatus, continueOnFailure });
    graphUpdate.queueCascade(id, 'reopened');
  }
}

async function writeGroups(
  tx: Tx,
  groups: readonly { group: Group; counts: StepCounts; needsItems: boolean }[],
): Promise<void> {
  const rows = groups.map(({ group: { jobId }, counts: { open, fine, failed, cancelled }, needsItems }) => {
    return { jobId, needsItems, openItems: open, fineItems: fine, failedItems: failed, cancelledItems: cancelled };
  });
  if (rows.length === 0) return;
  const ids = rows.map(({ jobId }) => jobId);
  await tx.run(sql`update job_group
    set needs_items = i.needs_items, open_items = i.open_items, fine_items = i.fine_items, failed_items = i.failed_items,
      cancelled_items = i.cancelled_items
    from ${groupRow.input(rows)} i where job_group.job_id = i.job_id ${alsoAnyOf('job_group.job_id', ids)}`);
}

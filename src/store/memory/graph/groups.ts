/** Groups: jobs that are never claimed, and end when all their items have. */

import { type GroupProgress, groupEnd, groupFailure, hasItemsLeft } from '../../../core/dag/group.ts';
import type { GroupState } from '../../../core/dag/workflow.ts';
import { endStep, itemEnd, reopenStep, type StepCounts } from '../../../core/dag/workflow-status.ts';
import { isTerminal, type TerminalStatus } from '../../../core/job.ts';
import { copyJson } from '../base/copy.ts';
import { type Entry, endOf } from '../base/entry.ts';
import { change, type Tables } from '../base/tables.ts';
import { end } from '../jobs/finish.ts';
import { stepReopened } from './workflow-row.ts';

/** The items of a group. */
export interface Group {
  readonly source: GroupState['source'];
  readonly maxParallel: number | null;
  /** `null` until the list is known. */
  items: readonly unknown[] | null;
  /** Ids of the inserted items, by index. */
  readonly itemIds: number[];
  counts: StepCounts;
}

export type GroupEntry = Entry & { group: Group };

export function toGroupState({ source, maxParallel, items, itemIds, counts }: Group): GroupState {
  return {
    source: copyJson(source),
    maxParallel,
    total: items?.length ?? null,
    inserted: itemIds.length,
    counts: { ...counts },
  };
}

/** Counts the end of an item. Its group may insert further items, or end. */
export function itemEnded(tables: Tables, item: Entry, status: TerminalStatus): void {
  const entry = groupOf(tables, item);
  if (entry === undefined) return;
  const { group } = entry;
  group.counts = endStep(group.counts, itemEnd(status));
  if (finishGroup(tables, entry)) return;
  if (hasItemsLeft(progressOf(entry))) askForItems(tables, entry);
}

/** Counts an item as not ended. `status` is how it had ended. A group that has ended runs again. */
export function itemReopened(tables: Tables, item: Entry, status: TerminalStatus): void {
  const entry = groupOf(tables, item);
  if (entry === undefined) return;
  entry.group.counts = reopenStep(entry.group.counts, itemEnd(status));
  if (!isTerminal(entry.status)) return;
  stepReopened(tables, entry, entry.status);
  const again = { status: 'running', doneAt: null, reason: null, end: null, result: null } as const;
  change(tables, entry, { ...again, cancelRequestedAt: null, keepChildren: false });
  tables.cascade.add(entry);
  tables.changes.changedJob(entry.id);
  askForItems(tables, entry);
}

/** Lets the grapher insert items of the group, or end it. */
export function askForItems(tables: Tables, entry: Entry): void {
  tables.needItems.add(entry);
  tables.changes.changedGraph();
}

/** Ends a running group that has nothing more to wait for. Returns false if it goes on. */
export function finishGroup(tables: Tables, entry: GroupEntry): boolean {
  const status = entry.status === 'running' ? groupEnd(progressOf(entry)) : undefined;
  if (status === undefined) return false;
  const items = entry.group.itemIds.map((id) => tables.jobs.get(id) as Entry);
  if (status !== 'cancelled') entry.result = items.map(({ result }) => copyJson(result));
  const failed = status === 'failed' ? items.find((item) => item.status === 'failed') : undefined;
  const cause =
    failed === undefined
      ? { reason: status === 'cancelled' ? ('cancelled' as const) : null, error: null }
      : groupFailure({ index: failed.groupIndex as number, reason: failed.reason, error: endOf(failed).error });
  end(tables, entry, { status, ...cause, record: null });
  tables.changes.endedByGraph(entry.id);
  return true;
}

function progressOf({ group, cancelRequestedAt }: GroupEntry): GroupProgress {
  return {
    total: group.items?.length ?? null,
    inserted: group.itemIds.length,
    counts: group.counts,
    cancelRequested: cancelRequestedAt !== null,
  };
}

function groupOf(tables: Tables, item: Entry): GroupEntry | undefined {
  return item.groupId === null ? undefined : (tables.jobs.get(item.groupId) as GroupEntry);
}

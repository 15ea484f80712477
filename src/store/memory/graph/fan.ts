/** What a group knows of its items. */

import { groupEnd, groupFailure } from '../../../core/dag/group.ts';
import type { GroupState } from '../../../core/dag/workflow.ts';
import { endStep, reopenStep, type StepCounts } from '../../../core/dag/workflow-status.ts';
import { isTerminal, type TerminalStatus } from '../../../core/job.ts';
import { copyJson } from '../base/copy.ts';
import { type Entry, endOf } from '../base/entry.ts';
import { change, type Tables } from '../base/tables.ts';
import { end } from '../jobs/finish.ts';
import { stepReopened } from './workflow-row.ts';

export interface Fan {
  readonly source: GroupState['source'];
  readonly maxParallel: number | null;
  /** `null` until the list is known. */
  items: readonly unknown[] | null;
  /** Ids of those inserted, by index. */
  readonly itemIds: number[];
  counts: StepCounts;
}

export function toGroupState({ source, maxParallel, items, itemIds, counts }: Fan): GroupState {
  return {
    source: copyJson(source),
    maxParallel,
    total: items?.length ?? null,
    inserted: itemIds.length,
    counts: { ...counts },
  };
}

/** May let the group go on with further items, or end it. */
export function itemEnded(tables: Tables, item: Entry, status: TerminalStatus): void {
  const group = groupOf(tables, item);
  if (group === undefined) return;
  group.fan.counts = endStep(group.fan.counts, { status, continueOnFailure: item.spec.continueOnFailure });
  if (finishGroup(tables, group)) return;
  if (group.fan.itemIds.length < (group.fan.items?.length ?? 0)) wakeGroup(tables, group);
}

/** `status` is how it had ended. Its group, if that has ended, runs again. */
export function itemReopened(tables: Tables, item: Entry, status: TerminalStatus): void {
  const group = groupOf(tables, item);
  if (group === undefined) return;
  group.fan.counts = reopenStep(group.fan.counts, { status, continueOnFailure: item.spec.continueOnFailure });
  if (!isTerminal(group.status)) return;
  stepReopened(tables, group, group.status);
  const again = { status: 'running', doneAt: null, reason: null, end: null, result: null } as const;
  change(tables, group, { ...again, cancelRequestedAt: null, quiet: false });
  tables.cascade.add(group);
  tables.changes.changedJob(group.id);
  wakeGroup(tables, group);
}

/** The expander is to look at it. */
export function wakeGroup(tables: Tables, group: Entry): void {
  tables.due.add(group);
  tables.changes.changedGraph();
}

/** Ends a running group that has nothing more to wait for; `false`: it has. */
export function finishGroup(tables: Tables, group: GroupEntry): boolean {
  const { fan } = group;
  const progress = {
    total: fan.items?.length ?? null,
    inserted: fan.itemIds.length,
    counts: fan.counts,
    cancelRequested: group.cancelRequestedAt !== null,
  };
  const status = group.status === 'running' ? groupEnd(progress) : undefined;
  if (status === undefined) return false;
  const items = fan.itemIds.map((id) => tables.jobs.get(id) as Entry);
  if (status === 'done') group.result = items.map(({ result }) => copyJson(result));
  const failed = status === 'failed' ? items.find((item) => item.status === 'failed') : undefined;
  const told =
    failed === undefined
      ? { reason: status === 'cancelled' ? ('cancelled' as const) : null, error: null }
      : groupFailure({ index: failed.groupIndex as number, reason: failed.reason, error: endOf(failed).error });
  end(tables, group, { status, ...told, record: null });
  return true;
}

export type GroupEntry = Entry & { fan: Fan };

function groupOf(tables: Tables, item: Entry): GroupEntry | undefined {
  return item.groupId === null ? undefined : (tables.jobs.get(item.groupId) as GroupEntry);
}

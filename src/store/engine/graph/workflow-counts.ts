/** The counts of a workflow's steps by their ends. */

import type { StepCounts, WorkflowChanges, WorkflowStatus } from '../../../core/dag/workflow-status.ts';
import type { TerminalStatus } from '../../../core/job.ts';
import { isWatched, type Notify } from '../../../core/notify.ts';
import { columns } from '../../sql/columns.ts';
import { alsoAnyOf, anyOf, at, locking, sql } from '../../sql/sql.ts';
import type { Tx } from '../../sql/tx.ts';
import type { EndNotice } from '../notices.ts';

interface CountsRow {
  id: number;
  openSteps: number;
  fineSteps: number;
  failedSteps: number;
  cancelledSteps: number;
}

const counts = columns<CountsRow>({
  id: 'bigint',
  openSteps: 'int',
  fineSteps: 'int',
  failedSteps: 'int',
  cancelledSteps: 'int',
});
const lockedRow = counts.with<CountsRow & { startedAt: number | null; notify: readonly Notify[] | null }>({
  startedAt: 'instant',
  notify: 'json',
});
const written = counts.with<CountsRow & { status: WorkflowStatus }>({ status: 'text' });

/** Adds the ends and reopenings of steps to the counts of their workflows. Returns the notices of workflows that have ended. */
export async function addToWorkflows(tx: Tx, changes: WorkflowChanges, instant: number): Promise<EndNotice[]> {
  const { ids } = changes;
  if (ids.length === 0) return [];
  const rows = await tx.all(
    lockedRow,
    sql`select ${lockedRow} from workflow where id ${anyOf(ids)} order by id ${locking('for update')}`,
  );
  const after = rows.map((row) => ({
    ...changes.apply(row.id, countsOf(row), row.startedAt !== null),
    id: row.id,
    notify: row.notify,
  }));
  await writeCounts(tx, after, instant || (await tx.instant()));
  const ended = after.filter(({ open, notify, status }) => open === 0 && notify !== null && isWatched(notify, status));
  return ended.map(({ id, status }) => ({ jobId: null, workflowId: id, status: status as TerminalStatus }));
}

/** `instant`: when those without an open step have ended. */
export async function writeCounts(
  tx: Tx,
  workflows: readonly (StepCounts & { id: number; status: WorkflowStatus })[],
  instant: number,
): Promise<void> {
  const rows = workflows.map(({ id, open, fine, failed, cancelled, status }) => {
    return { id, status, openSteps: open, fineSteps: fine, failedSteps: failed, cancelledSteps: cancelled };
  });
  if (rows.length === 0) return;
  await tx.run(sql`update workflow
    set open_steps = i.open_steps, fine_steps = i.fine_steps, failed_steps = i.failed_steps,
      cancelled_steps = i.cancelled_steps, status = i.status, ended_at = case when i.open_steps = 0 then ${at(instant)} end
    from ${written.input(rows)} i where workflow.id = i.id ${alsoAnyOf(
      'workflow.id',
      rows.map(({ id }) => id),
    )}`);
}

function countsOf({ openSteps, fineSteps, failedSteps, cancelledSteps }: CountsRow): StepCounts {
  return { open: openSteps, fine: fineSteps, failed: failedSteps, cancelled: cancelledSteps };
}

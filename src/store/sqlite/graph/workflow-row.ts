/** The counts of a workflow's steps. */

import type { StepCounts } from '../../../core/dag/workflow-status.ts';
import type { Notify } from '../../../core/notify.ts';

export interface WorkflowRow {
  id: number;
  started_at: number | null;
  open_steps: number;
  fine_steps: number;
  failed_steps: number;
  cancelled_steps: number;
  /** As JSON; `null` if there are no targets. */
  notify: string | null;
}

export function countsOf(row: WorkflowRow): StepCounts {
  return { open: row.open_steps, fine: row.fine_steps, failed: row.failed_steps, cancelled: row.cancelled_steps };
}

export function notifyOf({ notify }: WorkflowRow): readonly Notify[] {
  return notify === null ? [] : (JSON.parse(notify) as Notify[]);
}

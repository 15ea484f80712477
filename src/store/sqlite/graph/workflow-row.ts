/** The row of a workflow, and its decoding. */

import type { Workflow } from '../../../core/dag/workflow.ts';
import type { StepCounts, WorkflowStatus } from '../../../core/dag/workflow-status.ts';
import type { Notify } from '../../../core/notify.ts';

export interface WorkflowRow {
  id: number;
  name: string;
  params: string;
  status: WorkflowStatus;
  created_at: number;
  started_at: number | null;
  ended_at: number | null;
  rerun_of: number | null;
  total: number;
  open_steps: number;
  fine_steps: number;
  failed_steps: number;
  cancelled_steps: number;
  /** As JSON; `null` if there are no targets. */
  notify: string | null;
  definition: string | null;
  definition_version: number | null;
  submitted_by: string | null;
}

export function countsOf(row: WorkflowRow): StepCounts {
  return { open: row.open_steps, fine: row.fine_steps, failed: row.failed_steps, cancelled: row.cancelled_steps };
}

export function notifyOf({ notify }: WorkflowRow): readonly Notify[] {
  return notify === null ? [] : (JSON.parse(notify) as Notify[]);
}

export function decodeWorkflow(row: WorkflowRow): Workflow {
  return {
    id: row.id,
    name: row.name,
    params: JSON.parse(row.params) as Record<string, unknown>,
    notify: notifyOf(row),
    status: row.status,
    createdAt: row.created_at,
    startedAt: row.started_at,
    endedAt: row.ended_at,
    rerunOf: row.rerun_of,
    definition: row.definition === null ? null : { name: row.definition, version: row.definition_version ?? 0 },
    submittedBy: row.submitted_by,
    total: row.total,
    counts: countsOf(row),
  };
}

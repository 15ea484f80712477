/** Steps that one call ended or reopened, summed by workflow and written once. */

import {
  endStep,
  openSteps,
  reopenStep,
  type StepCounts,
  type StepEnd,
  workflowStatus,
} from '../../../core/dag/workflow-status.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';
import { noteWorkflowEnd } from '../cluster/notices.ts';
import { countsOf, type WorkflowRow } from './workflow-row.ts';

export class WorkflowCounts {
  readonly #changes = new Map<number, StepCounts>();

  end(workflowId: number, end: StepEnd): void {
    this.#changes.set(workflowId, endStep(this.#changeOf(workflowId), end));
  }

  reopen(workflowId: number, end: StepEnd): void {
    this.#changes.set(workflowId, reopenStep(this.#changeOf(workflowId), end));
  }

  write(context: Context): void {
    const { database, now } = context;
    for (const [id, change] of this.#changes) {
      const row = database.get<WorkflowRow>(sql.workflows, id);
      if (row === undefined) continue;
      const counts = countsOf(row);
      const open = counts.open + change.open;
      const fine = counts.fine + change.fine;
      const failed = counts.failed + change.failed;
      const cancelled = counts.cancelled + change.cancelled;
      const status = workflowStatus({ open, fine, failed, cancelled }, row.started_at !== null);
      database.run(sql.writeWorkflows, id, status, open > 0 ? null : now, open, fine, failed, cancelled);
      if (open === 0) noteWorkflowEnd(context, row, status);
    }
    this.#changes.clear();
  }

  #changeOf(workflowId: number): StepCounts {
    return this.#changes.get(workflowId) ?? openSteps(0);
  }
}

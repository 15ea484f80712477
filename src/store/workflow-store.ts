/** Workflows and their steps. */

import type { NewWorkflow } from '../core/dag/new-workflow.ts';
import type { Workflow, WorkflowFilter, WorkflowStep } from '../core/dag/workflow.ts';
import type { InsertOptions } from './job-store.ts';

export interface WorkflowStore {
  /**
   * Stores a workflow with all its steps, or nothing. Ids rise in the order of the steps. Kept steps of a rerun start as
   * `done`, with a copy of the result of the job they repeat. Idempotency as in `insert`.
   */
  insertWorkflow(
    workflow: NewWorkflow,
    options: InsertOptions,
    signal: AbortSignal,
  ): Promise<{ workflow: Workflow; replayed: boolean }>;

  workflow(id: number, signal: AbortSignal): Promise<Workflow | undefined>;

  /** Returns workflows newest first (id descending), below `before` if given. */
  workflows(
    filter: WorkflowFilter,
    page: { before: number | null; limit: number },
    signal: AbortSignal,
  ): Promise<Workflow[]>;

  /** Deletes an ended workflow with all its jobs. Returns false if there is none, or one of its jobs has to stay (`deleteJobs`). */
  deleteWorkflow(id: number, signal: AbortSignal): Promise<boolean>;

  /** Returns the number of skipped steps of each of these workflows that has any. */
  skippedSteps(workflowIds: readonly number[], signal: AbortSignal): Promise<{ workflowId: number; count: number }[]>;

  /**
   * Returns the steps of a workflow without the items of its groups, by id: all of them if `page` is `null`. `dependsOn`
   * has the edges. Each call reads the current state: pages of a running workflow are of different moments.
   */
  steps(workflowId: number, page: StepPage | null, signal: AbortSignal): Promise<WorkflowStep[]>;
}

export interface StepPage {
  /** Steps with ids above this; `null`: from the first. */
  after: number | null;
  limit: number;
}

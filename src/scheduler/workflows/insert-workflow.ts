/** Inserts a workflow and counts its steps. */

import type { NewStep, NewSteps, NewWorkflow } from '../../core/dag/new-workflow.ts';
import type { Workflow } from '../../core/dag/workflow.ts';
import type { InsertOptions } from '../../store/job-store.ts';
import type { SchedulerContext } from '../context.ts';

export async function insertWorkflow(
  { store, telemetry }: SchedulerContext,
  workflow: NewWorkflow,
  options: InsertOptions,
  signal: AbortSignal,
): Promise<{ workflow: Workflow; replayed: boolean }> {
  const steps = new CountedSteps(workflow.steps, workflow.submittedBy ?? null);
  const inserted = await store.insertWorkflow({ ...workflow, steps }, options, signal);
  if (!inserted.replayed) {
    const { id, name, createdAt } = inserted.workflow;
    telemetry.started(steps.byQueue, createdAt, { workflow_id: id, name });
  }
  return inserted;
}

/** Counts steps by queue, and names who submits them, while the store iterates over them: there may be 100,000, made one by one. */
class CountedSteps implements NewSteps {
  readonly #steps: NewSteps;
  readonly #submittedBy: string | null;
  /** Steps that will run, counted by the last iteration. */
  byQueue: Record<string, number> = {};

  constructor(steps: NewSteps, submittedBy: string | null) {
    this.#steps = steps;
    this.#submittedBy = submittedBy;
  }

  get length(): number {
    return this.#steps.length;
  }

  *[Symbol.iterator](): Generator<NewStep> {
    const counts: Record<string, number> = {};
    for (const step of this.#steps) {
      const { queue } = step.job;
      if (step.keepFrom === null) counts[queue] = (counts[queue] ?? 0) + 1;
      yield this.#submittedBy === null ? step : { ...step, job: { ...step.job, submittedBy: this.#submittedBy } };
    }
    this.byQueue = counts;
  }
}

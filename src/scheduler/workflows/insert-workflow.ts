/** Inserts a workflow and counts its steps. */

import type { NewStep, NewSteps, NewWorkflow } from '../../core/dag/new-workflow.ts';
import type { Workflow } from '../../core/dag/workflow.ts';
import type { InsertOptions } from '../../store/job-store.ts';
import type { SchedulerContext } from '../context.ts';
import { type Seal, sealJob } from '../secrets/sealing.ts';

export async function insertWorkflow(
  { store, telemetry, sealing }: SchedulerContext,
  workflow: NewWorkflow,
  options: InsertOptions,
  signal: AbortSignal,
): Promise<{ workflow: Workflow; replayed: boolean }> {
  const steps = new CountedSteps(workflow.steps, workflow.submittedBy ?? null, await sealing.seal());
  const inserted = await store.insertWorkflow({ ...workflow, steps }, options, signal);
  if (!inserted.replayed) {
    const { id, name, createdAt } = inserted.workflow;
    telemetry.started(steps.byQueue, createdAt, { workflow_id: id, name });
  }
  return inserted;
}

/** Counts steps by queue, names who submits them and seals what is to be sealed while the store iterates over them: there may be 100,000, made one by one. */
class CountedSteps implements NewSteps {
  readonly #steps: NewSteps;
  readonly #submittedBy: string | null;
  readonly #seal: Seal;
  /** Steps that will run, counted by the last iteration. */
  byQueue: Record<string, number> = {};

  constructor(steps: NewSteps, submittedBy: string | null, seal: Seal) {
    this.#steps = steps;
    this.#submittedBy = submittedBy;
    this.#seal = seal;
  }

  get length(): number {
    return this.#steps.length;
  }

  *[Symbol.iterator](): Generator<NewStep> {
    const counts: Record<string, number> = {};
    for (const step of this.#steps) {
      const job = sealJob(step.job, this.#seal);
      const { queue } = job;
      if (step.keepFrom === null) counts[queue] = (counts[queue] ?? 0) + 1;
      if (this.#submittedBy !== null) yield { ...step, job: { ...job, submittedBy: this.#submittedBy } };
      else yield job === step.job ? step : { ...step, job };
    }
    this.byQueue = counts;
  }
}

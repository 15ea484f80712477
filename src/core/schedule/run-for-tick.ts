/** From what a schedule runs to what runs for one tick. */

import type { ListedWorkflow } from '../dag/new-workflow.ts';
import type { Dependency, JobSpec, NewJob } from '../job.ts';
import type { PlannedRun } from './plan-line.ts';

/** Named after its schedule and taking turns by its key, unless told otherwise. */
export function jobForTick(
  spec: JobSpec,
  { tick, runAt, notify = [] }: PlannedRun,
  dependsOn: readonly Dependency[],
): NewJob {
  return {
    ...spec,
    name: spec.name ?? tick.schedule,
    fairKey: spec.fairKey ?? tick.key,
    notify: [...notify, ...spec.notify],
    tick,
    runAt,
    delayMs: null,
    unique: null,
    dependsOn,
  };
}

/** Every step knows the tick. The first ones are held back as the run is. */
export function workflowForTick(
  { steps, notify: own = [], ...workflow }: Omit<ListedWorkflow, 'rerunOf'>,
  { tick, runAt, notify = [] }: PlannedRun,
): ListedWorkflow {
  return {
    ...workflow,
    notify: [...notify, ...own],
    rerunOf: null,
    steps: steps.map((step) => {
      const isFirst = step.parents.length === 0 && step.job.delayMs === null;
      const job = { ...step.job, fairKey: step.job.fairKey ?? tick.key, tick, runAt: isFirst ? runAt : null };
      return { ...step, job };
    }),
  };
}

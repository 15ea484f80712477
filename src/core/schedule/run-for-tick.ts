/** The job or workflow that runs for one tick. */

import type { ListedWorkflow } from '../dag/new-workflow.ts';
import type { Dependency, JobSpec, NewJob } from '../job.ts';
import type { PlannedRun } from './plan-line.ts';

/** The defaults are the schedule's name as its name and the schedule's key as its fair key. */
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

/** Every step gets the tick. First steps start no earlier than the run. */
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

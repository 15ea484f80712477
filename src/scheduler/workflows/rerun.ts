/** Runs a part of a workflow again, as a new workflow. */

import type { NewForEach, NewStep } from '../../core/dag/new-workflow.ts';
import type { Workflow, WorkflowStep } from '../../core/dag/workflow.ts';
import { WorkronError } from '../../core/error.ts';
import type { SchedulerContext } from '../context.ts';
import { newJobOf } from '../jobs/new-job-of.ts';
import { insertWorkflow } from './insert-workflow.ts';
import { readWorkflow } from './workflows.ts';

export interface RerunRequest {
  /** The key of a step. */
  from: string;
  /** True to repeat this step alone, without its descendants. */
  only: boolean;
  submittedBy?: string | null;
}

/** Repeats the step and, unless `only`, its descendants. Ancestors that are done are kept; other ancestors run too. */
export async function rerunWorkflow(
  context: SchedulerContext,
  id: number,
  { from, only, submittedBy = null }: RerunRequest,
  signal: AbortSignal,
): Promise<Workflow> {
  const original = await readWorkflow(context, id, signal);
  const steps = await context.store.steps(id, null, signal);
  const start = steps.findIndex(({ key }) => key === from);
  if (start === -1) throw new WorkronError('step_not_found', `Workflow ${id} has no step ${from}`);
  const parents = parentPlaces(steps);
  const repeated = only ? new Set([start]) : below(parents, start);
  const taken = [...above(parents, repeated)].sort((a, b) => a - b);
  const places = new Map(taken.map((place, index) => [place, index]));
  const again = taken.map((place) => {
    const step = steps[place] as WorkflowStep;
    const kept = !repeated.has(place) && step.job.status === 'done';
    return newStep(step, { steps, places, parents: kept ? [] : (parents[place] ?? []), kept });
  });
  const { name, params, notify } = original;
  const workflow = { name, params, notify, steps: again, rerunOf: id, submittedBy };
  return (await insertWorkflow(context, workflow, {}, signal)).workflow;
}

/** For each step, the positions of its parents in the list. */
function parentPlaces(steps: readonly WorkflowStep[]): number[][] {
  const places = new Map(steps.map(({ job }, place) => [job.id, place]));
  return steps.map(({ job }) => job.dependsOn.flatMap(({ jobId }) => places.get(jobId) ?? []));
}

/** Returns the step and all its descendants. Parents precede their children, so one pass is enough. */
function below(parents: readonly (readonly number[])[], start: number): Set<number> {
  const found = new Set([start]);
  parents.forEach((list, place) => {
    if (list.some((parent) => found.has(parent))) found.add(place);
  });
  return found;
}

/** Returns the steps and all their ancestors. */
function above(parents: readonly (readonly number[])[], steps: ReadonlySet<number>): Set<number> {
  const found = new Set(steps);
  for (let place = parents.length - 1; place >= 0; place -= 1) {
    if (found.has(place)) for (const parent of parents[place] ?? []) found.add(parent);
  }
  return found;
}

interface Place {
  steps: readonly WorkflowStep[];
  /** Maps positions in the old list to positions in the new one. */
  places: ReadonlyMap<number, number>;
  parents: readonly number[];
  kept: boolean;
}

function newStep({ key, job, condition, group }: WorkflowStep, { steps, places, parents, kept }: Place): NewStep {
  return {
    key,
    // The gang of a step has no members yet.
    job: { ...newJobOf(job, null), gang: job.gang },
    parents: parents.flatMap((place) => places.get(place) ?? []),
    condition,
    forEach:
      group === null || kept ? null : { items: sourceOf(group.source, steps, places), maxParallel: group.maxParallel },
    keepFrom: kept ? job.id : null,
  };
}

type GroupSource = NonNullable<WorkflowStep['group']>['source'];

function sourceOf(
  source: GroupSource,
  steps: readonly WorkflowStep[],
  places: ReadonlyMap<number, number>,
): NewForEach['items'] {
  if (!('parentId' in source)) return source;
  const parent = steps.findIndex(({ job }) => job.id === source.parentId);
  return { parent: places.get(parent) ?? 0, path: source.path };
}

/** What a person does to a whole workflow. */

import type { Workflow, WorkflowStep } from '../../core/dag/workflow.ts';
import { WorkronError } from '../../core/error.ts';
import type { SchedulerContext } from '../context.ts';
import { changeAll } from '../jobs/change-all.ts';
import { stepPages } from './step-pages.ts';

export async function readWorkflow(context: SchedulerContext, id: number, signal: AbortSignal): Promise<Workflow> {
  const workflow = await context.store.workflow(id, signal);
  if (workflow === undefined) throw new WorkronError('workflow_not_found', `No workflow ${id}`);
  return workflow;
}

/** Of each step, the places of its parents in the list. */
export function parentPlaces(steps: readonly WorkflowStep[]): number[][] {
  const places = new Map(steps.map(({ job }, place) => [job.id, place]));
  return steps.map(({ job }) => job.dependsOn.flatMap(({ jobId }) => places.get(jobId) ?? []));
}

/** Waiting steps at once, running ones are asked to stop. A step that becomes free meanwhile is met by the next round. */
export async function cancelWorkflow(context: SchedulerContext, id: number, signal: AbortSignal): Promise<Workflow> {
  await readWorkflow(context, id, signal);
  await changeAll(
    context,
    { action: 'cancel', filter: { workflowId: id, statuses: ['running', 'pending', 'scheduled', 'blocked'] } },
    signal,
  );
  return await readWorkflow(context, id, signal);
}

/** Items stand for their group: it waits again with them. A group that ended without a failed item waits again itself. */
export async function retryWorkflow(context: SchedulerContext, id: number, signal: AbortSignal): Promise<Workflow> {
  await readWorkflow(context, id, signal);
  const except = await byItems(context, id, signal);
  const filter = { workflowId: id, statuses: ['failed', 'cancelled'] as const };
  const changed = await changeAll(context, { action: 'retry', filter, except }, signal);
  if (changed === 0)
    throw new WorkronError('illegal_transition', `Workflow ${id} has no failed or cancelled step to retry`);
  return await readWorkflow(context, id, signal);
}

async function byItems(context: SchedulerContext, id: number, signal: AbortSignal): Promise<Set<number>> {
  const found = new Set<number>();
  for await (const steps of stepPages(context, id, signal)) {
    for (const { job, group } of steps) {
      if (group !== null && group.counts.failed + group.counts.cancelled > 0) found.add(job.id);
    }
  }
  return found;
}

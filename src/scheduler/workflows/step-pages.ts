import type { WorkflowStep } from '../../core/dag/workflow.ts';
import type { SchedulerContext } from '../context.ts';

/** Steps that are read at once. A workflow with no more is seen as it is at one moment. */
const STEPS_PER_PAGE = 1_000;

/** The steps of a workflow, parents before their children, some at a time: there may be 100,000. */
export async function* stepPages(
  { store }: SchedulerContext,
  workflowId: number,
  signal: AbortSignal,
): AsyncGenerator<WorkflowStep[]> {
  let after: number | null = null;
  for (;;) {
    const steps: WorkflowStep[] = await store.steps(workflowId, signal, { after, limit: STEPS_PER_PAGE });
    if (steps.length > 0) yield steps;
    if (steps.length < STEPS_PER_PAGE) return;
    after = steps.at(-1)?.job.id ?? null;
  }
}

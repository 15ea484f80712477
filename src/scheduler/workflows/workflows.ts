/** The operations on workflows. */

import type { NewWorkflow } from '../../core/dag/new-workflow.ts';
import type { Workflow, WorkflowFilter, WorkflowStep } from '../../core/dag/workflow.ts';
import { WorkronError } from '../../core/error.ts';
import type { Job } from '../../core/job.ts';
import type { InsertOptions } from '../../store/job-store.ts';
import type { SchedulerContext } from '../context.ts';
import { changeAll } from '../jobs/change-all.ts';
import { withInstallationTargets } from '../notify/targets.ts';
import { pageOf } from '../page.ts';
import { insertWorkflow } from './insert-workflow.ts';
import { type RerunRequest, rerunWorkflow } from './rerun.ts';
import { checkStepInputs } from './step-inputs.ts';
import { viewWorkflow, type WorkflowView } from './view-workflow.ts';

/** A workflow with at most this many steps is read in one piece, as it was at one moment. */
const STEPS_PER_PAGE = 1_000;

export interface WorkflowPage {
  items: Workflow[];
  nextBefore: number | null;
}

export interface Workflows {
  /**
   * Inserts all steps or none. Resolves once they are on disk. Rejects with `bad_request` if a handler of this process refuses
   * the input of a step.
   */
  submitWorkflow(
    workflow: NewWorkflow,
    options: InsertOptions,
    signal: AbortSignal,
  ): Promise<{ workflow: Workflow; replayed: boolean }>;
  workflow(id: number, signal: AbortSignal): Promise<WorkflowView>;
  workflows(
    filter: WorkflowFilter,
    page: { before: number | null; limit: number },
    signal: AbortSignal,
  ): Promise<WorkflowPage>;
  /** The number of skipped steps by workflow; without workflows that have too many steps to count. */
  skippedSteps(workflows: readonly Workflow[], signal: AbortSignal): Promise<Map<number, number>>;
  /** Cancels waiting steps at once and asks running ones to stop. */
  cancelWorkflow(id: number, signal: AbortSignal): Promise<Workflow>;
  /**
   * Retries every cancelled step, and every failed one whose failure does not count as success. Steps that were skipped
   * because of them are judged again.
   */
  retryWorkflow(id: number, signal: AbortSignal): Promise<Workflow>;
  /** Deletes an ended workflow with all its jobs, and returns it as it was. */
  deleteWorkflow(id: number, signal: AbortSignal): Promise<Workflow>;
  /** Inserts a workflow that repeats a step and, unless `only`, its descendants; ancestors that are done are kept. */
  rerunWorkflow(id: number, request: RerunRequest, signal: AbortSignal): Promise<Workflow>;
}

export function workflowsOf(context: SchedulerContext): Workflows {
  const { store } = context;
  return {
    /** Notifications are about the workflow as a whole, not about each step. */
    async submitWorkflow(workflow, options, signal) {
      await checkStepInputs(context.inputChecks, workflow.steps);
      const notify = withInstallationTargets(workflow.notify ?? [], context.notify);
      return await insertWorkflow(context, { ...workflow, notify }, options, signal);
    },
    workflow: (id, signal) => viewWorkflow(context, id, signal),
    workflows: async (filter, { before, limit }, signal) =>
      pageOf(await store.workflows(filter, { before, limit: limit + 1 }, signal), limit),
    skippedSteps: (workflows, signal) => countSkipped(context, workflows, signal),
    cancelWorkflow: (id, signal) => cancelWorkflow(context, id, signal),
    retryWorkflow: (id, signal) => retryWorkflow(context, id, signal),
    deleteWorkflow: (id, signal) => deleteWorkflow(context, id, signal),
    rerunWorkflow: (id, request, signal) => rerunWorkflow(context, id, request, signal),
  };
}

async function countSkipped(
  { store }: SchedulerContext,
  workflows: readonly Workflow[],
  signal: AbortSignal,
): Promise<Map<number, number>> {
  const small = workflows.filter(({ total }) => total <= STEPS_PER_PAGE);
  const ids = small.filter(({ counts }) => counts.fine > 0).map(({ id }) => id);
  const found = ids.length === 0 ? [] : await store.skippedSteps(ids, signal);
  return new Map([
    ...small.map(({ id }) => [id, 0] as const),
    ...found.map(({ workflowId, count }) => [workflowId, count] as const),
  ]);
}

export async function readWorkflow(context: SchedulerContext, id: number, signal: AbortSignal): Promise<Workflow> {
  const workflow = await context.store.workflow(id, signal);
  if (workflow === undefined) throw new WorkronError('workflow_not_found', `No workflow ${id}`);
  return workflow;
}

/** Yields the steps of a workflow, parents before their children, in pages: a workflow can have 100,000 steps. */
export async function* stepPages(
  { store }: SchedulerContext,
  workflowId: number,
  signal: AbortSignal,
): AsyncGenerator<WorkflowStep[]> {
  let after: number | null = null;
  for (;;) {
    const steps: WorkflowStep[] = await store.steps(workflowId, { after, limit: STEPS_PER_PAGE }, signal);
    if (steps.length > 0) yield steps;
    if (steps.length < STEPS_PER_PAGE) return;
    after = steps.at(-1)?.job.id ?? null;
  }
}

/** Cancels every unfinished step. Steps that become claimable meanwhile are found by the next round of `changeAll`. */
export async function cancelWorkflow(context: SchedulerContext, id: number, signal: AbortSignal): Promise<Workflow> {
  await readWorkflow(context, id, signal);
  await changeAll(
    context,
    { action: 'cancel', filter: { workflowId: id, statuses: ['running', 'pending', 'scheduled', 'blocked'] } },
    signal,
  );
  return await readWorkflow(context, id, signal);
}

async function deleteWorkflow(context: SchedulerContext, id: number, signal: AbortSignal): Promise<Workflow> {
  const workflow = await readWorkflow(context, id, signal);
  if (await context.store.deleteWorkflow(id, signal)) return workflow;
  const { status, endedAt } = await readWorkflow(context, id, signal);
  const why =
    endedAt === null
      ? `it is ${status}; only ended workflows can be deleted`
      : 'an unfinished job depends on one of its steps, or its notifications are not written yet';
  throw new WorkronError('illegal_transition', `Cannot delete workflow ${id}: ${why}`);
}

async function retryWorkflow(context: SchedulerContext, id: number, signal: AbortSignal): Promise<Workflow> {
  await readWorkflow(context, id, signal);
  const groups = await groupsWithItemsToRetry(context, id, signal);
  const filter = { workflowId: id, statuses: ['failed', 'cancelled'] as const };
  const except = (job: Job) => isTolerated(job) || groups.has(job.id);
  const changed = await changeAll(context, { action: 'retry', filter, except }, signal);
  if (changed === 0) {
    throw new WorkronError(
      'illegal_transition',
      `Workflow ${id} has no failed or cancelled step to retry; failures with continue_on_failure count as success`,
    );
  }
  return await readWorkflow(context, id, signal);
}

/** Children and workflow went on after such a failure, so the workflow does not need another attempt. */
function isTolerated({ status, continueOnFailure }: Job): boolean {
  return status === 'failed' && continueOnFailure;
}

/** The groups that are reopened by the retry of their items, and so are not retried themselves. */
async function groupsWithItemsToRetry(
  context: SchedulerContext,
  id: number,
  signal: AbortSignal,
): Promise<Set<number>> {
  const found = new Set<number>();
  for await (const steps of stepPages(context, id, signal)) {
    for (const { job, group } of steps) {
      if (group === null) continue;
      const failed = job.continueOnFailure ? 0 : group.counts.failed;
      if (failed + group.counts.cancelled > 0) found.add(job.id);
    }
  }
  return found;
}

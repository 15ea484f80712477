/** Maps workflows from the domain to the wire. */

import type { Workflow, WorkflowStep } from '../../core/dag/workflow.ts';
import { toIdOrNull, toInstant, toInstantOrNull } from '../fields.ts';
import { notifyToWire } from '../notify.ts';
import { failureToWire } from '../thrown.ts';
import type { StepState, Workflow as WireWorkflow } from './workflow.ts';

export function workflowToWire(workflow: Workflow): WireWorkflow {
  return {
    id: String(workflow.id),
    name: workflow.name,
    params: { ...workflow.params },
    status: workflow.status,
    created_at: toInstant(workflow.createdAt),
    started_at: toInstantOrNull(workflow.startedAt),
    ended_at: toInstantOrNull(workflow.endedAt),
    rerun_of: toIdOrNull(workflow.rerunOf),
    definition: workflow.definition === null ? null : { ...workflow.definition },
    submitted_by: workflow.submittedBy,
    notify: notifyToWire(workflow.notify),
    step_counts: { total: workflow.total, ...workflow.counts },
  };
}

/** `keyOf` returns the key of the step that a job belongs to. */
export function stepToWire({ key, job, condition, group }: WorkflowStep, keyOf: (jobId: number) => string): StepState {
  return {
    key,
    job_id: String(job.id),
    name: job.name,
    queue: job.queue,
    status: job.status,
    depends_on: job.dependsOn.map(({ jobId }) => keyOf(jobId)),
    if: condition,
    continue_on_failure: job.continueOnFailure,
    attempts: job.attempt,
    failures: job.failures,
    max_attempts: job.maxAttempts,
    created_at: toInstant(job.createdAt),
    run_at: toInstant(job.dueAt),
    started_at: toInstantOrNull(job.startedAt),
    done_at: toInstantOrNull(job.doneAt),
    worker_id: toIdOrNull(job.workerId),
    exit_code: job.exitCode,
    signal: job.signal,
    error: job.error,
    failure: failureToWire(job.error),
    reason: job.reason,
    rerun_of: toIdOrNull(job.rerunOf),
    progress: job.progress,
    group:
      group === null
        ? null
        : { total: group.total, inserted: group.inserted, max_parallel: group.maxParallel, ...group.counts },
  };
}

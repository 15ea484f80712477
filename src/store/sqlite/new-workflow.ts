/** A workflow on its way into the writer's thread. */

import type { NewStep, NewWorkflow } from '../store.ts';
import type { InsertWorkflowInput, NewStepRow } from './insert-workflow.ts';
import { encodeNewJobs, fairQueuesOf } from './new-job-row.ts';

export function encodeNewWorkflow(
  { name, params, steps, rerunOf, notify }: NewWorkflow,
  now: number,
): Omit<InsertWorkflowInput, 'now' | 'idempotency'> {
  const { rows, lanes } = encodeNewJobs(
    steps.map(({ job }) => job),
    now,
  );
  return {
    name,
    params: JSON.stringify(params),
    rerunOf,
    notify: notify === undefined || notify.length === 0 ? null : JSON.stringify(notify),
    rows: JSON.stringify(rows),
    lanes,
    fairQueues: fairQueuesOf(rows),
    steps: JSON.stringify(steps.map(encodeStep)),
  };
}

function encodeStep({ key, parents, condition, forEach, keepFrom }: NewStep): NewStepRow {
  return [key, parents, condition, forEach === null ? null : [forEach.items, forEach.maxParallel], keepFrom];
}

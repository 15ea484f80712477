import type { JobDetail } from '../../../src/api/job.ts';
import { NOTIFY_QUEUE } from '../../../src/api/route.ts';
import type { WorkflowDetail } from '../../../src/api/workflow/workflow.ts';

/** A command that notifies runs in a queue of its own. */
export function notifyQueues(notify: JobDetail['notify']): string[] {
  return notify.some(({ command }) => command !== undefined) ? [NOTIFY_QUEUE] : [];
}

/** The queues that a rerun of the workflow needs: it copies all steps. */
export function workflowQueues({ steps, notify }: Pick<WorkflowDetail, 'steps' | 'notify'>): string[] {
  return [...steps.map(({ queue }) => queue), ...notifyQueues(notify)];
}

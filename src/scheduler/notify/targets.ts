/** What the installation says about being told. */

import type { NewWorkflow } from '../../core/dag/new-workflow.ts';
import type { NewJob } from '../../core/job.ts';
import { DEFAULT_LATE_AFTER_MS, NOTIFY_QUEUE, type Notify } from '../../core/notify.ts';

export interface NotifyContext {
  /** Told of every job, workflow and schedule, beside what those say themselves. */
  readonly list: readonly Notify[];
  /** Signs what goes to webhooks; `null`: unsigned. */
  readonly secret: string | null;
  /** Where people find this installation, for links; `null`: links are paths. */
  readonly publicUrl: string | null;
}

export const NOBODY: NotifyContext = { list: [], secret: null, publicUrl: null };

/** The list with the installation's, by reference: its targets are looked up when there is something to tell. */
export function withInstallation(list: readonly Notify[], { list: own }: NotifyContext): readonly Notify[] {
  if (own.length === 0 || list.some(({ target }) => target.type === 'installation')) return list;
  const on = [...new Set(own.flatMap((entry) => entry.on))];
  const patience = own.filter((entry) => entry.on.includes('late')).map(({ lateAfterMs }) => lateAfterMs);
  const lateAfterMs = patience.length === 0 ? DEFAULT_LATE_AFTER_MS : Math.min(...patience);
  return [...list, { on, target: { type: 'installation' }, lateAfterMs }];
}

/** Messages about messages would have no end. */
export function watchJob(job: NewJob, context: NotifyContext): NewJob {
  if (context.list.length === 0 || job.queue === NOTIFY_QUEUE) return job;
  return { ...job, notify: withInstallation(job.notify, context) };
}

/** The workflow as a whole is told of, not each of its steps. */
export function watchWorkflow(workflow: NewWorkflow, context: NotifyContext): NewWorkflow {
  return { ...workflow, notify: withInstallation(workflow.notify ?? [], context) };
}

/** The list with its references resolved. */
export function resolveInstallation(list: readonly Notify[], { list: own }: NotifyContext): readonly Notify[] {
  return list.flatMap((entry) => (entry.target.type === 'installation' ? own : [entry]));
}

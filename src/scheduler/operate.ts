/** What a person does to one job: cancel, retry, edit. */

import { WorkronError } from '../core/error.ts';
import type { Job } from '../core/job.ts';
import type { JobEdit } from '../store/store.ts';
import type { SchedulerContext } from './context.ts';
import { decide, jobOf } from './decide.ts';

export function jobNotFound(id: number): WorkronError {
  return new WorkronError('job_not_found', `No job ${id}`, { jobId: id });
}

/** `cancelled` at once where it waited; a running job is asked to stop. Twice is fine. */
export async function cancel(context: SchedulerContext, id: number, signal: AbortSignal): Promise<Job> {
  const [decision] = await decide(context, [id], () => ({ type: 'cancel' }), signal);
  return jobOf(decision, () => jobNotFound(id));
}

/** A failed, cancelled or skipped job waits again, with a full budget. */
export async function retry(context: SchedulerContext, id: number, signal: AbortSignal): Promise<Job> {
  const [decision] = await decide(context, [id], () => ({ type: 'retry' }), signal);
  return jobOf(decision, () => jobNotFound(id));
}

/** Changes a job while it waits. */
export async function edit(context: SchedulerContext, id: number, change: JobEdit, signal: AbortSignal): Promise<Job> {
  const edited = await context.store.edit(id, change, signal);
  if (edited !== undefined) return edited;
  const [job] = await context.store.read([id], signal);
  if (job === undefined) throw jobNotFound(id);
  throw new WorkronError(
    'illegal_transition',
    `Cannot edit job ${id}: it is ${job.status}; only waiting jobs can be edited`,
    { jobId: id },
  );
}

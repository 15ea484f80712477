/** The changes to one job: cancel, retry, edit, delete. */

import { WorkronError } from '../../core/error.ts';
import { gangTag } from '../../core/gang.ts';
import { isTerminal, type Job } from '../../core/job.ts';
import type { JobEdit } from '../../core/job-edit.ts';
import type { SchedulerContext } from '../context.ts';
import { cancelGangs } from './cancel-gangs.ts';
import { changeAll } from './change-all.ts';
import { decide, jobOf } from './decide.ts';
import { retriedWith } from './retry-gangs.ts';

export function jobNotFound(id: number): WorkronError {
  return new WorkronError('job_not_found', `No job ${id}`, { jobId: id });
}

/**
 * Cancels a waiting job at once, asks a running one to stop, and cancels all items of a group and all members of a gang. May be
 * repeated.
 */
export async function cancel(
  context: SchedulerContext,
  { id, keepChildren }: { id: number; keepChildren: boolean },
  signal: AbortSignal,
): Promise<Job> {
  const [decision] = await decide(context, [id], () => ({ type: 'cancel', keepChildren }), signal);
  const job = jobOf(decision, () => jobNotFound(id));
  await cancelGangs(context, [job], signal);
  if (!isGroup(job)) return job;
  await changeAll(
    context,
    { action: 'cancel', filter: { groupId: id, statuses: ['running', 'pending', 'scheduled'] } },
    signal,
  );
  return (await context.store.read([id], signal))[0] ?? job;
}

/** A group runs without a worker. */
function isGroup(job: Job): boolean {
  return job.status === 'running' && job.workerId === null;
}

/**
 * Retries a failed, cancelled or skipped job with all its attempts; of a group, its failed and cancelled items; of a gang, its failed and
 * cancelled members.
 */
export async function retry(context: SchedulerContext, id: number, signal: AbortSignal): Promise<Job> {
  const items = await changeAll(
    context,
    { action: 'retry', filter: { groupId: id, statuses: ['failed', 'cancelled'] } },
    signal,
  );
  if (items > 0) {
    const [group] = await context.store.read([id], signal);
    if (group !== undefined) return group;
  }
  const [job] = await context.store.read([id], signal);
  const ids = job === undefined ? [id] : await retriedWith(context, job, signal);
  const [decision] = await decide(context, ids, () => ({ type: 'retry' }), signal);
  return jobOf(decision, () => jobNotFound(id));
}

/** An edit as it is asked for. At most one of `runAt` and `delayMs` is set. */
export type EditRequest = JobEdit & { delayMs?: number };

/** A member of a gang keeps the tag by which the others find it. */
async function withGangTag(
  { store }: SchedulerContext,
  id: number,
  tags: readonly string[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const [job] = await store.read([id], signal);
  return job?.gang == null ? tags : [...new Set([...tags, gangTag(job.gang.id)])];
}

/** Edits a waiting job. A delay counts from now, by the clock of the store. */
export async function edit(
  context: SchedulerContext,
  id: number,
  { delayMs, ...fields }: EditRequest,
  signal: AbortSignal,
): Promise<Job> {
  const change: JobEdit = { ...fields };
  if (delayMs !== undefined) change.runAt = (await context.store.now(signal)) + delayMs;
  if (fields.tags !== undefined) change.tags = await withGangTag(context, id, fields.tags, signal);
  const edited = await context.store.edit(id, change, signal);
  if (edited !== undefined) return edited;
  const [job] = await context.store.read([id], signal);
  if (job === undefined) throw jobNotFound(id);
  const why =
    job.durable !== undefined && change.runAt !== undefined
      ? 'it has steps, which say when it goes on'
      : `it is ${job.status}; only waiting jobs can be edited`;
  throw new WorkronError('illegal_transition', `Cannot edit job ${id}: ${why}`, { jobId: id });
}

/** Deletes an ended job with everything that is stored about it, and returns it as it was. */
export async function deleteJob({ store }: SchedulerContext, id: number, signal: AbortSignal): Promise<Job> {
  const [job] = await store.read([id], signal);
  if (job === undefined) throw jobNotFound(id);
  if ((await store.deleteJobs([id], signal)).length > 0) return job;
  const [now] = await store.read([id], signal);
  if (now === undefined) throw jobNotFound(id);
  throw new WorkronError('illegal_transition', `Cannot delete job ${id}: ${whyKept(now)}`, { jobId: id });
}

function whyKept({ status, workflowId, gang }: Job): string {
  if (!isTerminal(status)) return `it is ${status}; only ended jobs can be deleted`;
  if (workflowId !== null) return `it belongs to workflow ${workflowId}, which is deleted as a whole`;
  if (gang !== null) return 'it is a member of a gang, which retention deletes';
  return 'an unfinished job depends on it, or its notifications are not written yet';
}

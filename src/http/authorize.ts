/** Checks what a caller may do beyond what its token's existence says: scopes, queues, workers. */

import { outlineOf } from '../api/workflow/stored-wire.ts';
import type { NewDefinition } from '../core/dag/definition.ts';
import type { NewSteps } from '../core/dag/new-workflow.ts';
import { isWorkronError, WorkronError } from '../core/error.ts';
import type { Notify } from '../core/notify.ts';
import type { ScheduleEdit, Target } from '../core/schedule/schedule.ts';
import type { Scope } from '../core/token.ts';
import { authorizeJobs, authorizeQueue } from '../scheduler/jobs/admit.ts';
import type { Principal } from './authenticate.ts';
import type { Call } from './handler.ts';

/** Throws `forbidden` if the caller lacks the scope. */
export function authorize(principal: Principal, scope: Scope): void {
  if (principal.scopes.includes(scope)) return;
  throw new WorkronError('forbidden', `${principal.name} may not do this: it needs the scope ${scope}`);
}

/** Throws `forbidden` if the caller may not use a queue of a workflow. Its steps are read only if the caller is restricted. */
export function authorizeSteps(principal: Principal, steps: NewSteps, notify: readonly Notify[]): void {
  if (principal.queues === null) return;
  authorizeJobs(principal, jobsOf(steps), notify);
}

function* jobsOf(steps: NewSteps) {
  for (const { job } of steps) yield job;
}

/** The same for what a schedule runs. */
export function authorizeTarget(principal: Principal, target: Target, notify: readonly Notify[] = []): void {
  if ('job' in target) authorizeJobs(principal, [target.job], notify);
  else authorizeSteps(principal, target.workflow.steps, [...notify, ...(target.workflow.notify ?? [])]);
}

/** Returns the queues that a worker may claim from, of those it asks for (`null`: all). Throws `forbidden` for others. */
export function claimableQueues(principal: Principal, wanted: readonly string[] | null): readonly string[] | null {
  if (principal.queues === null || wanted === null) return wanted ?? principal.queues;
  for (const queue of wanted) authorizeQueue(principal, queue);
  return wanted;
}

/** Throws `forbidden` if the caller may act only as its own workers, and this one is not. */
export async function authorizeWorker(
  { principal, scheduler, signal }: Pick<Call, 'principal' | 'scheduler' | 'signal'>,
  workerId: number,
): Promise<void> {
  if (!principal.ownWorkersOnly) return;
  const registrant = await scheduler.registrantOf(workerId, signal);
  if (registrant === undefined || registrant === principal.name) return;
  throw new WorkronError('forbidden', `Worker ${workerId} was not registered by ${principal.name}`);
}

/** Throws `forbidden` if the caller may see only jobs that its own workers hold, and this one is not. */
export async function authorizeHolder(
  call: Pick<Call, 'principal' | 'scheduler' | 'signal'>,
  jobId: number,
): Promise<void> {
  if (!call.principal.ownWorkersOnly) return;
  const { workerId } = await call.scheduler.wait(jobId, 0, call.signal);
  if (workerId !== null) return authorizeWorker(call, workerId);
  throw new WorkronError('forbidden', `Job ${jobId} is not held by a worker of ${call.principal.name}`);
}

/** Throws `forbidden` if the caller is restricted to queues and the schedule of this name runs jobs in others. */
export async function authorizeSchedule(
  { principal, scheduler, signal }: Pick<Call, 'principal' | 'scheduler' | 'signal'>,
  name: string,
): Promise<void> {
  if (principal.queues === null) return;
  const schedule = await scheduler.schedule(name, signal).catch((error: unknown) => {
    if (isWorkronError(error, 'schedule_not_found')) return undefined;
    throw error;
  });
  if (schedule !== undefined) authorizeTarget(principal, schedule.target, schedule.notify);
}

/** Throws `forbidden` if the caller is restricted to queues and the stored workflow of this name runs jobs in others. */
export async function authorizeDefinition(
  { principal, scheduler, signal }: Pick<Call, 'principal' | 'scheduler' | 'signal'>,
  name: string,
): Promise<void> {
  if (principal.queues === null) return;
  const definition = await scheduler.definition(name, null, signal).catch((error: unknown) => {
    if (isWorkronError(error, 'definition_not_found')) return undefined;
    throw error;
  });
  if (definition !== undefined) authorizeFound(principal, definition);
}

/** The same for a stored workflow that was read. */
export function authorizeFound(principal: Principal, definition: NewDefinition): void {
  if (principal.queues === null) return;
  const { steps, notify = [] } = outlineOf(definition);
  authorizeSteps(principal, steps, notify);
}

export function authorizeEdit(principal: Principal, { target, job, notify }: ScheduleEdit): void {
  if (target !== undefined) authorizeTarget(principal, target);
  if (job?.queue !== undefined) authorizeQueue(principal, job.queue);
  authorizeJobs(principal, [], [...(notify ?? []), ...(job?.notify ?? [])]);
}

/** Maps jobs between the wire and the domain. */

import type { Attempt as DomainAttempt } from '../core/attempt-end.ts';
import type { DurableState } from '../core/durable.ts';
import { DEFAULT_BACKOFF, DEFAULT_SPEC, type Job as DomainJob, type JobSpec, type NewJob } from '../core/job.ts';
import type { ListedJob as DomainListedJob } from '../core/job-filter.ts';
import { type NotifyEvent, WEBHOOK_HANDLER } from '../core/notify.ts';
import { toIdOrNull, toInstant, toInstantOrNull } from './fields.ts';
import { gangToWire, membersOf } from './gang.ts';
import type { Attempt, Job, JobDetail, ListedJob, SubmittedJob } from './job.ts';
import { type JobSubmission, parentOf } from './job-submission.ts';
import { metersToWire, ratesFrom } from './meters.ts';
import { notifyFrom, notifyToWire } from './notify.ts';
import { failureToWire } from './thrown.ts';
import { tickOfJobToWire } from './tick-of-job.ts';
import { usageToWire } from './usage.ts';

/** Returns the jobs of a submission: one, or the members of a gang. */
export function newJobsFrom(wire: JobSubmission, newGangId: () => string): NewJob[] {
  const job = newJobFrom(wire);
  return wire.gang === undefined ? [job] : membersOf(job, wire.gang, newGangId());
}

/** Returns the submitted job with every default filled in. */
export function newJobFrom(wire: JobSubmission): NewJob {
  return {
    name: wire.name ?? DEFAULT_SPEC.name,
    queue: wire.queue ?? DEFAULT_SPEC.queue,
    priority: wire.priority ?? DEFAULT_SPEC.priority,
    command: wire.command ?? null,
    handler: wire.handler ?? null,
    input: wire.input ?? null,
    sealInput: wire.seal_input ?? DEFAULT_SPEC.sealInput,
    sealedInput: null,
    maxAttempts: wire.max_attempts ?? retriesToAttempts(wire.max_retries) ?? DEFAULT_SPEC.maxAttempts,
    backoff: backoffFrom(wire.backoff),
    retryOn: wire.retry_on ?? null,
    noRetryOn: wire.no_retry_on ?? null,
    timeoutMs: wire.timeout ?? DEFAULT_SPEC.timeoutMs,
    startTimeoutMs: wire.start_timeout ?? null,
    killGraceMs: wire.kill_grace ?? DEFAULT_SPEC.killGraceMs,
    rerun: wire.rerun ?? DEFAULT_SPEC.rerun,
    onDisconnect: wire.on_disconnect ?? DEFAULT_SPEC.onDisconnect,
    env: wire.env ?? DEFAULT_SPEC.env,
    cwd: wire.cwd ?? null,
    tags: distinct(wire.tags),
    requires: distinct(wire.requires),
    resources: wire.resources ?? DEFAULT_SPEC.resources,
    fairKey: wire.fair_key ?? null,
    limits: wire.limits ?? DEFAULT_SPEC.limits,
    rates: ratesFrom(wire.rates),
    onLimit: wire.on_limit ?? DEFAULT_SPEC.onLimit,
    gang: null,
    continueOnFailure: DEFAULT_SPEC.continueOnFailure,
    notify: notifyFrom(wire.notify),
    tick: null,
    submittedBy: null,
    runAt: wire.run_at ?? null,
    delayMs: wire.delay ?? wire.unique?.wait ?? null,
    unique:
      wire.unique === undefined
        ? null
        : {
            key: wire.unique.key,
            while: wire.unique.while ?? 'active',
            onConflict: wire.unique.on_conflict ?? 'existing',
            ...(wire.unique.max_wait === undefined ? {} : { maxWaitMs: wire.unique.max_wait }),
          },
    dependsOn: (wire.depends_on ?? []).map((dependency) => ({
      jobId: parentOf(dependency),
      condition: (typeof dependency === 'number' ? undefined : dependency.if) ?? 'success',
    })),
  };
}

/** Returns a job for readers. Values of `env` are left out. */
export function jobToWire(job: DomainJob): Job {
  return {
    id: String(job.id),
    status: job.status,
    ...specToWire(job),
    input: readableInput(job),
    env: Object.keys(job.env),
    depends_on: job.dependsOn.map(({ jobId, condition }) => ({ job: String(jobId), if: condition })),
    continue_on_failure: job.continueOnFailure,
    notify: notifyToWire(job.notify),
    workflow_id: toIdOrNull(job.workflowId),
    step: job.stepKey,
    group_id: toIdOrNull(job.groupId),
    index: job.groupIndex,
    rerun_of: toIdOrNull(job.rerunOf),
    unique_key: job.uniqueKey,
    tick: tickOfJobToWire(job.tick),
    submitted_by: job.submittedBy,
    run_at: toInstant(job.dueAt),
    attempts: job.attempt,
    failures: job.failures,
    interruptions: job.interruptions,
    snoozes: job.snoozes,
    created_at: toInstant(job.createdAt),
    started_at: toInstantOrNull(job.startedAt),
    done_at: toInstantOrNull(job.doneAt),
    expires_at: toInstantOrNull(job.expiresAt),
    last_heartbeat: toInstantOrNull(job.lastHeartbeatAt),
    worker_id: toIdOrNull(job.workerId),
    exit_code: job.exitCode,
    signal: job.signal,
    error: job.error,
    failure: failureToWire(job.error),
    thrown: job.thrown,
    reason: job.reason,
    result: job.result ?? null,
    progress: job.progress,
    checkpoint: checkpointToWire(job.checkpoint),
    cancel_requested_at: toInstantOrNull(job.cancelRequestedAt),
    ...(job.durable !== undefined && durableToWire(job.durable, job.dueAt)),
  };
}

function durableToWire({ steps, suspendedAt, unused }: DurableState, dueAt: number): Partial<Job> {
  return {
    ...(suspendedAt !== null && { suspended: { since: toInstant(suspendedAt), until: toInstant(dueAt) } }),
    steps,
    ...(unused !== null && { steps_unused: [...unused] }),
  };
}

export function listedJobToWire(job: DomainListedJob): ListedJob {
  return job.cut === undefined ? jobToWire(job) : { ...jobToWire(job), cut: [...job.cut] };
}

function checkpointToWire(checkpoint: DomainJob['checkpoint']): Job['checkpoint'] {
  if (checkpoint === null) return null;
  const { bytes, attempt, writtenAt } = checkpoint;
  return { bytes, attempt, written_at: toInstant(writtenAt) };
}

interface DetailedJob extends DomainJob {
  waiting: JobDetail['waiting'];
  notifications: readonly { event: NotifyEvent; deliveredBy: number; status: Job['status'] }[];
  notifies: { event: NotifyEvent; jobId: number | null; workflowId: number | null; schedule: string | null } | null;
}

export function jobDetailToWire(job: DetailedJob): JobDetail {
  const { waiting, notifications, notifies } = job;
  return {
    ...jobToWire(job),
    waiting,
    notifications: notifications.map(({ event, deliveredBy, status }) => {
      return { event, job_id: String(deliveredBy), status };
    }),
    notifies:
      notifies === null
        ? null
        : {
            event: notifies.event,
            job_id: toIdOrNull(notifies.jobId),
            workflow_id: toIdOrNull(notifies.workflowId),
            schedule: notifies.schedule,
          },
  };
}

export function submittedJobToWire(item: { job: DomainJob; deduplicated: boolean }): SubmittedJob {
  return { ...jobToWire(item.job), deduplicated: item.deduplicated };
}

/** The address of a webhook may be a secret of the installation, and its signature always is: readers see the host. */
function readableInput({ handler, input }: JobSpec): unknown {
  if (handler !== WEBHOOK_HANDLER) return input ?? null;
  const { url } = (input ?? {}) as { url?: unknown };
  return { host: typeof url === 'string' ? (URL.parse(url)?.host ?? null) : null };
}

/** Returns the fields that readers and workers both see. */
export function specToWire(spec: JobSpec) {
  return {
    name: spec.name,
    queue: spec.queue,
    priority: spec.priority,
    command: spec.command,
    handler: spec.handler,
    input: spec.input ?? null,
    seal_input: spec.sealInput,
    max_attempts: spec.maxAttempts,
    backoff: {
      type: spec.backoff.type,
      base: spec.backoff.baseMs,
      factor: spec.backoff.factor,
      cap: spec.backoff.capMs,
      jitter: spec.backoff.jitter,
    },
    retry_on: spec.retryOn === null ? null : [...spec.retryOn],
    no_retry_on: spec.noRetryOn === null ? null : [...spec.noRetryOn],
    timeout: spec.timeoutMs,
    start_timeout: spec.startTimeoutMs,
    kill_grace: spec.killGraceMs,
    rerun: spec.rerun,
    on_disconnect: spec.onDisconnect,
    cwd: spec.cwd,
    tags: [...spec.tags],
    requires: [...spec.requires],
    resources: { ...spec.resources },
    fair_key: spec.fairKey,
    ...metersToWire(spec),
    on_limit: spec.onLimit,
    gang: gangToWire(spec.gang),
  };
}

export function attemptToWire(attempt: DomainAttempt): Attempt {
  return {
    attempt: attempt.attempt,
    worker_id: toIdOrNull(attempt.workerId),
    started_at: toInstant(attempt.startedAt),
    ended_at: toInstant(attempt.endedAt),
    outcome: attempt.outcome,
    exit_code: attempt.exitCode,
    signal: attempt.signal,
    error: attempt.error,
    thrown: attempt.thrown,
    usage: attempt.usage === null ? null : usageToWire(attempt.usage),
  };
}

/** `max_retries: n` is accepted as `max_attempts: max(n, 1)`, for compatibility with clients that send it. */
function retriesToAttempts(maxRetries: number | undefined): number | undefined {
  return maxRetries === undefined ? undefined : Math.max(maxRetries, 1);
}

function backoffFrom(wire: JobSubmission['backoff']): NewJob['backoff'] {
  if (wire === undefined) return DEFAULT_BACKOFF;
  return {
    type: wire.type ?? DEFAULT_BACKOFF.type,
    baseMs: wire.base ?? DEFAULT_BACKOFF.baseMs,
    factor: wire.factor ?? DEFAULT_BACKOFF.factor,
    capMs: wire.cap ?? DEFAULT_BACKOFF.capMs,
    jitter: wire.jitter ?? DEFAULT_BACKOFF.jitter,
  };
}

/** Shared, so that a store recognizes the default by identity. */
const NONE = DEFAULT_SPEC.tags;

function distinct(values: readonly string[] | undefined): readonly string[] {
  return values === undefined ? NONE : [...new Set(values)];
}

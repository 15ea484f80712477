/** Maps schedules between the wire and the domain. */

import { isWorkronError, WorkronError } from '../core/error.ts';
import type { JobSpec, Status } from '../core/job.ts';
import { neededQueues } from '../core/needed-queues.ts';
import { DEFAULT_CATCHUP } from '../core/schedule/plan-ticks.ts';
import type {
  NewSchedule,
  Schedule,
  ScheduledJobEdit,
  ScheduleEdit,
  ScheduleSpec,
  Target,
} from '../core/schedule/schedule.ts';
import { invalid } from './decode.ts';
import { describeSchedule } from './describe-schedule.ts';
import { toIdOrNull, toInstant, toInstantOrNull } from './fields.ts';
import { newJobFrom, specToWire } from './job-wire.ts';
import { notifyFrom, notifyToWire } from './notify.ts';
import type {
  ScheduleDetail,
  ScheduleSubmission,
  ScheduleEdit as WireEdit,
  ScheduledJobEdit as WireJobEdit,
  Schedule as WireSchedule,
} from './schedule.ts';
import { newStepsFrom } from './workflow/new-steps.ts';

/**
 * Returns the submitted schedule with every default filled in. `at` is its pointer in the request, `made` what it runs if it
 * names a stored definition.
 */
export function newScheduleFrom(wire: ScheduleSubmission, at = '', made?: MadeTarget): NewSchedule {
  return {
    name: wire.name,
    owner: wire.owner ?? null,
    cron: wire.cron ?? null,
    everyMs: wire.every ?? null,
    anchor: wire.anchor ?? 0,
    timezone: wire.timezone ?? 'UTC',
    overlap: wire.overlap ?? 'skip',
    catchup: catchupFrom(wire.catchup),
    jitterMs: wire.jitter ?? 0,
    startAt: wire.start_at ?? null,
    endAt: wire.end_at ?? null,
    forEach: wire.for_each ?? null,
    ...(made ?? { target: targetFrom(wire, at) as Target }),
    notify: notifyFrom(wire.notify),
  };
}

/** Returns the fields to change. `catchup` and `notify` are replaced as a whole. */
export function scheduleEditFrom(wire: WireEdit, made?: MadeTarget): ScheduleEdit {
  const { job, ...others } = wire;
  const target = targetFrom(others, '');
  return {
    ...(job !== undefined && { job: jobEditFrom(job) }),
    ...(wire.owner !== undefined && { owner: wire.owner }),
    ...(wire.cron !== undefined && { cron: wire.cron, everyMs: null, anchor: 0 }),
    ...(wire.every !== undefined && { everyMs: wire.every, cron: null }),
    ...(wire.anchor !== undefined && { anchor: wire.anchor }),
    ...(wire.timezone !== undefined && { timezone: wire.timezone }),
    ...(wire.overlap !== undefined && { overlap: wire.overlap }),
    ...(wire.catchup !== undefined && { catchup: catchupFrom(wire.catchup) }),
    ...(wire.jitter !== undefined && { jitterMs: wire.jitter }),
    ...(wire.start_at !== undefined && { startAt: wire.start_at }),
    ...(wire.end_at !== undefined && { endAt: wire.end_at }),
    ...(wire.for_each !== undefined && { forEach: wire.for_each }),
    ...(target !== undefined && { target }),
    ...made,
    ...(wire.notify !== undefined && { notify: notifyFrom(wire.notify) }),
  };
}

function catchupFrom(wire: WireEdit['catchup']): ScheduleSpec['catchup'] {
  return {
    policy: wire?.policy ?? DEFAULT_CATCHUP.policy,
    windowMs: wire?.window ?? DEFAULT_CATCHUP.windowMs,
    max: wire?.max ?? DEFAULT_CATCHUP.max,
  };
}

/** What a stored definition makes a schedule run. */
type MadeTarget = Required<Pick<NewSchedule, 'target' | 'uses'>>;

type WireTarget = Pick<ScheduleSubmission, 'job' | 'workflow'>;

function targetFrom({ job, workflow }: WireTarget, at: string): Target | undefined {
  if (job !== undefined) return { job: specFrom(job) };
  if (workflow === undefined) return undefined;
  const { name, params = {}, steps, notify } = workflow;
  try {
    return { workflow: { name, params, steps: newStepsFrom(steps), notify: notifyFrom(notify) } };
  } catch (error) {
    if (!isWorkronError(error) || error.details.errors === undefined) throw error;
    // The pointers of the error are relative to the workflow.
    const errors = error.details.errors.map(({ pointer, detail }) => ({ pointer: `${at}/workflow${pointer}`, detail }));
    throw new WorkronError(error.code, invalid(errors).message, { ...error.details, errors });
  }
}

/** The property of a job that a wire field sets. */
const PROPERTY_OF: Readonly<Record<keyof Omit<WireJobEdit, 'env'>, keyof JobSpec>> = {
  command: 'command',
  handler: 'handler',
  input: 'input',
  seal_input: 'sealInput',
  name: 'name',
  queue: 'queue',
  priority: 'priority',
  max_attempts: 'maxAttempts',
  max_retries: 'maxAttempts',
  backoff: 'backoff',
  retry_on: 'retryOn',
  no_retry_on: 'noRetryOn',
  timeout: 'timeoutMs',
  start_timeout: 'startTimeoutMs',
  kill_grace: 'killGraceMs',
  rerun: 'rerun',
  on_disconnect: 'onDisconnect',
  cwd: 'cwd',
  tags: 'tags',
  requires: 'requires',
  resources: 'resources',
  fair_key: 'fairKey',
  limits: 'limits',
  rates: 'rates',
  on_limit: 'onLimit',
  notify: 'notify',
};

/** Returns the properties of the given fields; `null` is the default of a field. */
function jobEditFrom({ env, ...wire }: WireJobEdit): ScheduledJobEdit {
  const given = Object.fromEntries(Object.entries(wire).filter(([, value]) => value !== null));
  const spec = newJobFrom(given);
  const fields = Object.keys(wire) as (keyof typeof wire)[];
  const edit = Object.fromEntries(fields.map((field) => [PROPERTY_OF[field], spec[PROPERTY_OF[field]]]));
  return { ...edit, ...(env !== undefined && { env }) };
}

function specFrom(job: NonNullable<WireTarget['job']>): JobSpec {
  const { runAt: _runAt, delayMs: _delay, unique: _unique, dependsOn: _parents, ...spec } = newJobFrom(job);
  return spec;
}

export function scheduleToWire(schedule: Schedule): WireSchedule {
  const { target } = schedule;
  return {
    name: schedule.name,
    description: describeSchedule(schedule),
    cron: schedule.cron,
    every: schedule.everyMs,
    anchor: schedule.everyMs === null ? null : toInstant(schedule.anchor),
    timezone: schedule.timezone,
    overlap: schedule.overlap,
    catchup: { policy: schedule.catchup.policy, window: schedule.catchup.windowMs, max: schedule.catchup.max },
    jitter: schedule.jitterMs,
    start_at: toInstantOrNull(schedule.startAt),
    end_at: toInstantOrNull(schedule.endAt),
    for_each: schedule.forEach === null ? null : [...schedule.forEach],
    job: 'job' in target ? { ...specToWire(target.job), env: Object.keys(target.job.env) } : null,
    workflow: 'workflow' in target ? workflowToWire(target.workflow) : null,
    definition: schedule.uses == null ? null : { ...schedule.uses, params: { ...schedule.uses.params } },
    notify: notifyToWire([
      ...(schedule.notify ?? []),
      ...('job' in target ? target.job.notify : (target.workflow.notify ?? [])),
    ]),
    queues: queuesOf(schedule),
    owner: schedule.owner,
    created_at: toInstant(schedule.createdAt),
    updated_at: toInstant(schedule.updatedAt),
    next_run: toInstantOrNull(schedule.nextRun),
    last_run: toInstantOrNull(schedule.lastRun),
    last_verdict: schedule.lastVerdict,
    last_job_id: toIdOrNull(schedule.lastJobId),
    last_workflow_id: toIdOrNull(schedule.lastWorkflowId),
    paused_at: toInstantOrNull(schedule.pausedAt),
    paused_note: schedule.pausedNote,
  };
}

function queuesOf({ target, notify = [] }: Schedule): string[] {
  if ('job' in target) return [...neededQueues([target.job], notify)].sort();
  const { steps, notify: ofWorkflow = [] } = target.workflow;
  const jobs = steps.map(({ job }) => job);
  return [...neededQueues(jobs, [...notify, ...ofWorkflow])].sort();
}

export function scheduleDetailToWire({
  schedule,
  lastStatus,
  recent,
}: {
  schedule: Schedule;
  lastStatus: Status | null;
  recent: Partial<Record<Status, number>>;
}): ScheduleDetail {
  return { ...scheduleToWire(schedule), last_status: lastStatus, recent };
}

function workflowToWire({ name, params, steps }: Extract<Target, { workflow: unknown }>['workflow']) {
  return {
    name,
    params: { ...params },
    steps: steps.map(({ key, parents }) => ({
      key,
      depends_on: parents.map((place) => steps[place]?.key ?? String(place)),
    })),
  };
}

/** One notification: its payload, and the job that delivers it to a webhook (JSON) or a command (variables). */

import { createHmac } from 'node:crypto';
import type { Workflow } from '../../core/dag/workflow.ts';
import { formatDuration } from '../../core/duration.ts';
import { failureLine } from '../../core/failure-line.ts';
import { DEFAULT_BACKOFF, DEFAULT_SPEC, type Job, type NewJob } from '../../core/job.ts';
import type { Notice } from '../../core/notice.ts';
import { NOTIFY_QUEUE, type NotifyEvent, type NotifyTarget, WEBHOOK_HANDLER } from '../../core/notify.ts';
import { requestFor } from './format.ts';

/** Errors are cut at the beginning, because the cause is usually at the end. */
const MAX_ERROR_LENGTH = 4_096;

/** Attempts over about an hour and a half. */
const MAX_ATTEMPTS = 10;
const BASE_MS = 10_000;
const TIMEOUT_MS = 60_000;
/** Delivered before other work: there are few notifications, and they are urgent. */
const PRIORITY = 1_000;

/** The input of the webhook handler: the body exactly as it was signed. */
interface WebhookInput {
  url: string;
  body: string;
  /** Identifies the message: the same for every attempt to deliver it. */
  delivery: string;
  /** Seconds since 1970 at which it was written. */
  timestamp: string;
  /** Of `timestamp.delivery.body`; `null` if the installation has no secret. */
  signature: string | null;
}

interface EventSource {
  notice: Notice;
  job: Job | null;
  workflow: Workflow | null;
  publicUrl: string | null;
}

export interface NotifyPayload {
  /** The same for every attempt to deliver it. */
  id: string;
  event: NotifyEvent;
  at: string;
  /** One line of text. */
  text: string;
  job: Record<string, unknown> | null;
  workflow: Record<string, unknown> | null;
  schedule: Record<string, unknown> | null;
  links: Record<string, string>;
  /** Set if a person sends the message to see whether the target works. */
  test?: true;
}

/** About no job: the text says that it is a test. */
export function testPayload(event: NotifyEvent, { id, at }: { id: string; at: number }): NotifyPayload {
  const text = `Test message of Workron: this target is notified of "${event}"`;
  return { id, event, at: instant(at), text, job: null, workflow: null, schedule: null, links: {}, test: true };
}

export function payloadOf(event: NotifyEvent, source: EventSource): NotifyPayload {
  const { notice, job, workflow, publicUrl } = source;
  const base = publicUrl ?? '';
  return {
    id: String(notice.id),
    event,
    at: instant(notice.createdAt),
    text: textOf(event, source),
    job: job === null ? null : jobFields(job, notice),
    workflow: workflow === null ? null : workflowFields(workflow, notice),
    schedule: notice.schedule === null ? null : { name: notice.schedule, ...notice.detail },
    links: {
      ...(job === null ? {} : { job: `${base}/jobs/${job.id}`, logs: `${base}/jobs/${job.id}/logs` }),
      ...(workflow === null ? {} : { workflow: `${base}/workflows/${workflow.id}` }),
      ...(notice.schedule === null ? {} : { schedule: `${base}/schedules/${notice.schedule}` }),
    },
  };
}

export function messageJob(
  target: Exclude<NotifyTarget, { type: 'installation' }>,
  payload: NotifyPayload,
  secret: string | null,
): NewJob {
  return {
    ...DEFAULT_SPEC,
    name: payload.test ? 'notify test' : `notify ${payload.event}`,
    queue: NOTIFY_QUEUE,
    priority: PRIORITY,
    maxAttempts: MAX_ATTEMPTS,
    backoff: { ...DEFAULT_BACKOFF, baseMs: BASE_MS },
    timeoutMs: TIMEOUT_MS,
    ...(target.type === 'webhook'
      ? { handler: WEBHOOK_HANDLER, input: webhookInput(target.url, payload, secret) }
      : { command: target.command, env: variablesOf(payload) }),
    runAt: null,
    delayMs: null,
    unique: null,
    dependsOn: [],
  };
}

/** Signed here, so that workers do not need the secret. */
function webhookInput(address: string, payload: NotifyPayload, secret: string | null): WebhookInput {
  const { url, body } = requestFor(address, payload);
  const delivery = `${payload.id}.${payload.event}`;
  const timestamp = String(Math.floor(Date.parse(payload.at) / 1_000));
  const signed = `${timestamp}.${delivery}.${body}`;
  const signature = secret === null ? null : `sha256=${createHmac('sha256', secret).update(signed).digest('hex')}`;
  return { url, body, delivery, timestamp, signature };
}

/** The payload as environment variables of a command. */
function variablesOf(payload: NotifyPayload): Record<string, string> {
  const { event, text, job, workflow, schedule, links } = payload;
  const subject = job ?? workflow ?? {};
  const values = {
    EVENT: event,
    TEST: payload.test && 'true',
    TEXT: text,
    JOB_ID: job?.['id'],
    WORKFLOW_ID: workflow?.['id'],
    NAME: subject['name'],
    STATUS: subject['status'],
    REASON: job?.['reason'],
    ERROR: job?.['error'],
    SCHEDULE: schedule?.['name'] ?? job?.['schedule'],
    SCHEDULED_FOR: schedule?.['scheduled_for'] ?? job?.['scheduled_for'],
    KEY: schedule?.['key'] ?? job?.['key'],
    LINK: links['job'] ?? links['workflow'] ?? links['schedule'],
    JSON: JSON.stringify(payload),
  };
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) =>
      typeof value === 'string' ? [[`WORKRON_NOTIFY_${name}`, value]] : [],
    ),
  );
}

function jobFields(job: Job, { status }: Notice): Record<string, unknown> {
  return {
    id: String(job.id),
    name: job.name,
    queue: job.queue,
    tags: job.tags,
    status: status ?? job.status,
    reason: status === 'done' ? null : job.reason,
    error: status === 'done' || job.error === null ? null : endOf(job.error),
    exit_code: job.exitCode,
    signal: job.signal,
    attempts: job.attempt,
    failures: job.failures,
    created_at: instant(job.createdAt),
    started_at: job.startedAt === null ? null : instant(job.startedAt),
    done_at: job.doneAt === null ? null : instant(job.doneAt),
    workflow_id: job.workflowId === null ? null : String(job.workflowId),
    step: job.stepKey,
    schedule: job.tick?.schedule ?? null,
    scheduled_for: job.tick === null ? null : instant(job.tick.scheduledFor),
    key: job.tick?.key ?? null,
  };
}

function workflowFields(
  { id, name, status: now, total, counts }: Workflow,
  { status }: Notice,
): Record<string, unknown> {
  return { id: String(id), name, status: status ?? now, step_counts: { total, ...counts } };
}

function textOf(event: NotifyEvent, { notice, job, workflow }: EventSource): string {
  const what = subjectOf({ notice, job, workflow });
  switch (event) {
    case 'failed': {
      const why = job?.error == null ? job?.reason : failureLine(job.error);
      return why == null ? `${what} failed` : `${what} failed: ${why}`;
    }
    case 'recovered':
      return `${what} succeeded again`;
    case 'done':
      return `${what} is done`;
    case 'cancelled':
      return `${what} was cancelled`;
    case 'slow':
      return `${what} took ${formatDuration(roundedMs(tookMs({ job, workflow }) ?? 0))}`;
    case 'missed':
      return `${what} missed ${countOf(notice)}, first at ${String(notice.detail['scheduled_for'])}`;
    case 'late':
      return `${what} has not started by ${instant(notice.dueAt)}, due at ${String(notice.detail['scheduled_for'])}`;
  }
}

/** How long the attempt that ended a job took, or the workflow as a whole; `null` if it never started. */
export function tookMs({ job, workflow }: Pick<EventSource, 'job' | 'workflow'>): number | null {
  const [from, to] = job === null ? [workflow?.startedAt, workflow?.endedAt] : [job.startedAt, job.doneAt];
  return from == null || to == null ? null : to - from;
}

/** In whole seconds, where there are some. */
function roundedMs(ms: number): number {
  return ms < 1_000 ? ms : Math.round(ms / 1_000) * 1_000;
}

function countOf({ detail }: Notice): string {
  const count = Number(detail['count'] ?? 1);
  return count === 1 ? 'a run' : `${count} runs`;
}

function subjectOf({ notice, job, workflow }: Omit<EventSource, 'publicUrl'>): string {
  if (notice.kind !== 'ended' && notice.schedule !== null) return `schedule ${notice.schedule}`;
  if (workflow !== null) return `workflow ${workflow.name} (${workflow.id})`;
  if (job === null) return 'a job';
  return job.name === null ? `job ${job.id}` : `${job.name} (job ${job.id})`;
}

function endOf(error: string): string {
  return error.length <= MAX_ERROR_LENGTH ? error : `…${error.slice(-MAX_ERROR_LENGTH).toWellFormed()}`;
}

function instant(at: number): string {
  return new Date(at).toISOString();
}

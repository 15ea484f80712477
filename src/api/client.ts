/** A client of the API for programs and pages: nothing but `fetch`. */

import { WorkronError } from '../core/error.ts';
import type { Cluster } from './cluster.ts';
import type { CutEvent, Event, OutputEvent } from './event.ts';
import { readEvents } from './event-stream.ts';
import type { Failures } from './failures.ts';
import type { Health, Readiness } from './health.ts';
import type { Attempt, Job, JobDetail, JobPage, SubmittedJob } from './job.ts';
import type { JobEditInput } from './job-edit.ts';
import type { JobFilterInput } from './job-filter.ts';
import type { JobSubmissionInput } from './job-submission.ts';
import type { BulkAnswer, BulkRequestInput, Operation } from './operation.ts';
import { errorFromProblem } from './problem.ts';
import type { Queue, QueueEdit } from './queue.ts';
import type {
  BackfillRequestInput,
  Schedule,
  ScheduleDeclarationInput,
  ScheduleEditInput,
  SchedulePage,
  ScheduleSubmissionInput,
} from './schedule.ts';
import type { SchedulePreview, SchedulePreviewRequestInput } from './schedule-preview.ts';
import type { Stats } from './stats.ts';
import type { Backfill, NextTicks, Tick, TickPage } from './tick.ts';
import type { Worker } from './worker.ts';
import type {
  RerunRequestInput,
  Workflow,
  WorkflowDetail,
  WorkflowPage,
  WorkflowSubmissionInput,
} from './workflow/workflow.ts';

export interface ClientOptions {
  url: string;
  token?: string | null;
}

export interface CallOptions {
  signal?: AbortSignal;
}

export interface SubmitOptions extends CallOptions {
  /** A repeated call with the same key and body is answered like the first, and submits nothing. */
  idempotencyKey?: string;
}

export type ListQuery = Omit<JobFilterInput, 'ids'> & { ids?: string; limit?: number; cursor?: string };

export type StatsRequest = { from?: string; to?: string; step?: string; by?: 'queue' | 'outcome' };

export type ScheduleQuery = { owner?: string; q?: string; limit?: number; cursor?: string };

export type TickQuery = {
  key?: string;
  kind?: Tick['kind'];
  verdict?: Tick['verdict'];
  limit?: number;
  cursor?: string;
};

export type WorkflowQuery = { status?: Workflow['status']; name?: string; limit?: number; cursor?: string };

/** What a followed job prints, and at last how it ended. */
export type LogEvent = ({ type: 'output' } & OutputEvent) | ({ type: 'cut' } & CutEvent) | { type: 'end'; job: Job };

interface Request extends CallOptions {
  query?: Readonly<Record<string, unknown>>;
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
}

/** Every call rejects with a `WorkronError`: the server's own code, or `unreachable`. An abort rejects with its reason. */
export class Client {
  readonly #url: string;
  readonly #token: string | null;

  constructor({ url, token = null }: ClientOptions) {
    this.#url = url.replace(/\/+$/, '');
    this.#token = token;
  }

  submit(job: JobSubmissionInput, options: SubmitOptions = {}): Promise<SubmittedJob> {
    return this.#json('POST', '/jobs', { body: job, ...submitRequest(options) });
  }

  /** All of them or none, in order. */
  submitAll(jobs: readonly JobSubmissionInput[], options: SubmitOptions = {}): Promise<SubmittedJob[]> {
    return this.#items<SubmittedJob>('POST', '/jobs', { body: jobs, ...submitRequest(options) });
  }

  job(id: string, options: CallOptions = {}): Promise<JobDetail> {
    return this.#json('GET', jobPath(id), options);
  }

  jobs(query: ListQuery = {}, options: CallOptions = {}): Promise<JobPage> {
    return this.#json('GET', '/jobs', { query, ...options });
  }

  edit(id: string, edit: JobEditInput, options: CallOptions = {}): Promise<Job> {
    return this.#json('PATCH', jobPath(id), { body: edit, ...options });
  }

  /** What waits for it in vain is cancelled too, unless `cascade` is `none`. */
  cancel(id: string, { cascade, ...options }: CallOptions & { cascade?: 'none' } = {}): Promise<Job> {
    return this.#json('POST', `${jobPath(id)}/cancel`, {
      ...(cascade === undefined ? {} : { body: { cascade } }),
      ...options,
    });
  }

  retry(id: string, options: CallOptions = {}): Promise<Job> {
    return this.#json('POST', `${jobPath(id)}/retry`, options);
  }

  attempts(id: string, options: CallOptions = {}): Promise<Attempt[]> {
    return this.#items<Attempt>('GET', `${jobPath(id)}/attempts`, options);
  }

  /** The job once it has ended, or as it is after `timeout` (30 s). */
  wait(id: string, { timeout, ...options }: CallOptions & { timeout?: string | number } = {}): Promise<Job> {
    return this.#json('GET', `${jobPath(id)}/wait`, { query: { timeout }, ...options });
  }

  /** What one attempt has printed so far, byte for byte. */
  async logs(id: string, { attempt, ...options }: CallOptions & { attempt?: number } = {}): Promise<Uint8Array> {
    const response = await this.#send('GET', `${jobPath(id)}/logs`, {
      query: { attempt },
      headers: { accept: 'text/plain' },
      ...options,
    });
    return new Uint8Array(await response.arrayBuffer());
  }

  /** What it has printed and prints, until the job has ended. A connection that breaks is taken up again. */
  async *followLogs(
    id: string,
    { attempt, ...options }: CallOptions & { attempt?: number } = {},
  ): AsyncGenerator<LogEvent> {
    let last: string | undefined;
    for (let failures = 0; ; failures += 1) {
      const headers = { accept: 'text/event-stream', ...(last === undefined ? {} : { 'last-event-id': last }) };
      const response = await this.#send('GET', `${jobPath(id)}/logs`, { query: { attempt }, headers, ...options });
      try {
        for await (const { event, id: eventId, data } of readEvents(textOf(response))) {
          if (event === 'end') return yield { type: 'end', job: JSON.parse(data) as Job };
          if (event === 'output') yield { type: 'output', ...(JSON.parse(data) as OutputEvent) };
          if (event === 'cut') yield { type: 'cut', ...(JSON.parse(data) as CutEvent) };
          last = eventId ?? last;
          failures = 0;
        }
      } catch (error) {
        options.signal?.throwIfAborted();
        if (failures >= 3) throw this.#unreachable(error);
      }
    }
  }

  /** Hints that something changed; `reset` where some were missed. Ends when the connection does. */
  async *events(options: CallOptions = {}): AsyncGenerator<Event | { topic: 'reset' }> {
    const response = await this.#send('GET', '/events', { headers: { accept: 'text/event-stream' }, ...options });
    for await (const { event, data } of readEvents(textOf(response))) {
      yield event === 'reset' ? { topic: 'reset' } : (JSON.parse(data) as Event);
    }
  }

  bulk(request: BulkRequestInput, options: CallOptions = {}): Promise<BulkAnswer> {
    return this.#json('POST', '/jobs/bulk', { body: request, ...options });
  }

  /** All of its steps or none. */
  submitWorkflow(workflow: WorkflowSubmissionInput, options: SubmitOptions = {}): Promise<Workflow> {
    return this.#json('POST', '/workflows', { body: workflow, ...submitRequest(options) });
  }

  workflow(id: string, options: CallOptions = {}): Promise<WorkflowDetail> {
    return this.#json('GET', workflowPath(id), options);
  }

  workflows(query: WorkflowQuery = {}, options: CallOptions = {}): Promise<WorkflowPage> {
    return this.#json('GET', '/workflows', { query, ...options });
  }

  cancelWorkflow(id: string, options: CallOptions = {}): Promise<Workflow> {
    return this.#json('POST', `${workflowPath(id)}/cancel`, options);
  }

  retryWorkflow(id: string, options: CallOptions = {}): Promise<Workflow> {
    return this.#json('POST', `${workflowPath(id)}/retry`, options);
  }

  /** The new workflow. */
  rerunWorkflow(id: string, request: RerunRequestInput, options: CallOptions = {}): Promise<Workflow> {
    return this.#json('POST', `${workflowPath(id)}/rerun`, { body: request, ...options });
  }

  operation(id: string, options: CallOptions = {}): Promise<Operation> {
    return this.#json('GET', `/operations/${encodeURIComponent(id)}`, options);
  }

  schedules(query: ScheduleQuery = {}, options: CallOptions = {}): Promise<SchedulePage> {
    return this.#json('GET', '/schedules', { query, ...options });
  }

  schedule(name: string, options: CallOptions = {}): Promise<Schedule> {
    return this.#json('GET', schedulePath(name), options);
  }

  createSchedule(schedule: ScheduleSubmissionInput, options: CallOptions = {}): Promise<Schedule> {
    return this.#json('POST', '/schedules', { body: schedule, ...options });
  }

  /** Makes it what is said, whether it is there or not; one that is so already is left alone. */
  putSchedule(name: string, schedule: ScheduleDeclarationInput, options: CallOptions = {}): Promise<Schedule> {
    return this.#json('PUT', schedulePath(name), { body: schedule, ...options });
  }

  editSchedule(name: string, edit: ScheduleEditInput, options: CallOptions = {}): Promise<Schedule> {
    return this.#json('PATCH', schedulePath(name), { body: edit, ...options });
  }

  deleteSchedule(name: string, options: CallOptions = {}): Promise<Schedule> {
    return this.#json('DELETE', schedulePath(name), options);
  }

  pauseSchedule(name: string, { note, ...options }: CallOptions & { note?: string } = {}): Promise<Schedule> {
    return this.#json('POST', `${schedulePath(name)}/pause`, { body: { note }, ...options });
  }

  resumeSchedule(name: string, options: CallOptions = {}): Promise<Schedule> {
    return this.#json('POST', `${schedulePath(name)}/resume`, options);
  }

  /** Runs it now, whatever the clock says. */
  runSchedule(name: string, { keys, ...options }: SubmitOptions & { keys?: readonly string[] } = {}): Promise<Tick[]> {
    const body = keys === undefined ? {} : { body: { keys } };
    return this.#items<Tick>('POST', `${schedulePath(name)}/run`, { ...body, ...submitRequest(options) });
  }

  /** Makes up for past ticks that have no run; with `dry_run`, only tells which those are. */
  backfillSchedule(name: string, request: BackfillRequestInput, options: SubmitOptions = {}): Promise<Backfill> {
    return this.#json('POST', `${schedulePath(name)}/backfill`, { body: request, ...submitRequest(options) });
  }

  /** When it is due next, whether it is paused or not. */
  nextTicks(name: string, { count, ...options }: CallOptions & { count?: number } = {}): Promise<NextTicks> {
    return this.#json('GET', `${schedulePath(name)}/next`, { query: { count }, ...options });
  }

  /** The ledger, newest first. */
  ticks(name: string, query: TickQuery = {}, options: CallOptions = {}): Promise<TickPage> {
    return this.#json('GET', `${schedulePath(name)}/ticks`, { query, ...options });
  }

  /** What an expression means and when it would be due; nothing is stored. */
  previewSchedule(request: SchedulePreviewRequestInput, options: CallOptions = {}): Promise<SchedulePreview> {
    return this.#json('POST', '/schedules/preview', { body: request, ...options });
  }

  /** The instances on the server's store, and which of them performs which duty. */
  cluster(options: CallOptions = {}): Promise<Cluster> {
    return this.#json('GET', '/cluster', options);
  }

  queues(options: CallOptions = {}): Promise<Queue[]> {
    return this.#items<Queue>('GET', '/queues', options);
  }

  setQueue(name: string, edit: QueueEdit, options: CallOptions = {}): Promise<Queue> {
    return this.#json('PATCH', `/queues/${encodeURIComponent(name)}`, { body: edit, ...options });
  }

  workers(options: CallOptions = {}): Promise<Worker[]> {
    return this.#items<Worker>('GET', '/workers', options);
  }

  drainWorker(id: string, options: CallOptions = {}): Promise<Worker> {
    return this.#json('POST', `/workers/${encodeURIComponent(id)}/drain`, options);
  }

  /** By minute and queue, unless a `step` sums minutes or `by: 'outcome'` the queues. */
  stats({ from, to, step, by, ...options }: CallOptions & StatsRequest = {}): Promise<Stats> {
    return this.#json('GET', '/stats', { query: { from, to, step, by }, ...options });
  }

  /** What failed lately, the same failures together. */
  failures({ from, ...options }: CallOptions & { from?: string } = {}): Promise<Failures> {
    return this.#json('GET', '/failures', { query: { from }, ...options });
  }

  /** Also when it is not well. */
  health(options: CallOptions = {}): Promise<Health> {
    return this.#report('/health', options);
  }

  /** Also when it is not ready. */
  ready(options: CallOptions = {}): Promise<Readiness> {
    return this.#report('/ready', options);
  }

  async #json<T>(method: string, path: string, request: Request): Promise<T> {
    const response = await this.#send(method, path, request);
    return (await response.json()) as T;
  }

  async #items<T>(method: string, path: string, request: Request): Promise<T[]> {
    return (await this.#json<{ items: T[] }>(method, path, request)).items;
  }

  async #report<T>(path: string, options: CallOptions): Promise<T> {
    const response = await this.#fetch('GET', path, options);
    if (!response.ok && response.status !== 503) throw await refusal(response);
    const body: unknown = await response.json();
    if (typeof body === 'object' && body !== null && 'code' in body) throw errorFromProblem(response.status, body);
    return body as T;
  }

  async #send(method: string, path: string, request: Request): Promise<Response> {
    const response = await this.#fetch(method, path, request);
    if (response.ok) return response;
    throw await refusal(response);
  }

  async #fetch(method: string, path: string, { query, body, headers, signal }: Request): Promise<Response> {
    const init: RequestInit = {
      method,
      headers: {
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(this.#token === null ? {} : { authorization: `Bearer ${this.#token}` }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    };
    try {
      return await fetch(this.#url + path + queryString(query), init);
    } catch (error) {
      signal?.throwIfAborted();
      throw this.#unreachable(error);
    }
  }

  #unreachable(error: unknown): WorkronError {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const why = cause instanceof Error ? cause.message : String(cause);
    return new WorkronError('unreachable', `No Workron answers at ${this.#url}: ${why}`, { cause: error });
  }
}

function submitRequest({ idempotencyKey, ...options }: SubmitOptions): Request {
  return idempotencyKey === undefined ? options : { headers: { 'idempotency-key': idempotencyKey }, ...options };
}

async function refusal(response: Response): Promise<WorkronError> {
  const text = await response.text();
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN);
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    // Not one of ours: a proxy's page, say.
  }
  return errorFromProblem(response.status, body, Number.isFinite(retryAfter) ? retryAfter : undefined);
}

function jobPath(id: string): string {
  return `/jobs/${encodeURIComponent(id)}`;
}

function schedulePath(name: string): string {
  return `/schedules/${encodeURIComponent(name)}`;
}

function workflowPath(id: string): string {
  return `/workflows/${encodeURIComponent(id)}`;
}

function queryString(query: Readonly<Record<string, unknown>> | undefined): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each !== undefined) params.append(name, String(each));
    }
  }
  return params.size === 0 ? '' : `?${params.toString()}`;
}

async function* textOf(response: Response): AsyncGenerator<string> {
  if (response.body === null) return;
  const decoder = new TextDecoder();
  const reader = response.body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield decoder.decode(value, { stream: true });
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

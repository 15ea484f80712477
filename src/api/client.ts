/** A client of the API for programs and pages. It needs nothing but `fetch`. */

import { AccessClient } from './client-access.ts';
import { CapacityClient } from './client-capacity.ts';
import {
  type CallOptions,
  type ClientOptions,
  EVENTS,
  type ListQuery,
  type LogEvent,
  type LogRequest,
  type ScheduleQuery,
  type StatsRequest,
  type SubmitOptions,
  submitCall,
  type TickQuery,
  type TimelineRequest,
  type WorkflowQuery,
} from './client-requests.ts';
import { clientRoutes as routes } from './client-routes.ts';
import type { Cluster } from './cluster.ts';
import type { Finding } from './doctor.ts';
import type { Event } from './event.ts';
import { readEvents } from './event-stream.ts';
import type { Failures } from './failures.ts';
import { fetchTransportTo } from './fetch-transport.ts';
import { followLogs } from './follow-logs.ts';
import type { Health, Readiness } from './health.ts';
import { allPages, HttpClient, textChunks } from './http-client.ts';
import type { Attempt, Job, JobDetail, JobPage, SubmittedJob } from './job.ts';
import type { JobEditInput } from './job-edit.ts';
import type { JobSubmissionInput, JobsInput } from './job-submission.ts';
import type { BulkAnswer, BulkRequestInput, Operation } from './operation.ts';
import type { Queue, QueueEditInput } from './queue.ts';
import type {
  BackfillRequestInput,
  Schedule,
  ScheduleDeclarationInput,
  ScheduleDetail,
  ScheduleEditInput,
  SchedulePage,
  ScheduleSubmissionInput,
} from './schedule.ts';
import type { SchedulePreview, SchedulePreviewRequestInput } from './schedule-preview.ts';
import type { Stats } from './stats.ts';
import type { Backfill, NextTicks, Tick, TickPage } from './tick.ts';
import type { Timeline } from './timeline.ts';
import type { Worker } from './worker.ts';
import type {
  RerunRequestInput,
  Workflow,
  WorkflowDetail,
  WorkflowPage,
  WorkflowSubmissionInput,
} from './workflow/workflow.ts';

export type { CallOptions, ClientOptions, ListQuery, LogEvent, SubmitOptions, WorkflowQuery };

/** Every call rejects with a `WorkronError`: the server's own code, or `unreachable`. An abort rejects with its reason. */
export class Client {
  /** Tokens: who may do what. */
  readonly access: AccessClient;
  /** Limits and rates of keys. */
  readonly capacity: CapacityClient;
  readonly #http: HttpClient;

  constructor({ url, token = null, transport = fetchTransportTo(url) }: ClientOptions) {
    this.#http = new HttpClient({ url, token, transport });
    this.access = new AccessClient(this.#http);
    this.capacity = new CapacityClient(this.#http);
  }

  /** One job. A gang, which is several, goes to `submitAll`. */
  submit(job: JobSubmissionInput, options: SubmitOptions = {}): Promise<SubmittedJob> {
    return this.#http.json(routes.submitJobs, { body: job, ...submitCall(options) }) as Promise<SubmittedJob>;
  }

  /** All of them or none, in order. Instead of a list, it takes one gang, and returns its members by rank. */
  async submitAll(jobs: JobsInput, options: SubmitOptions = {}): Promise<SubmittedJob[]> {
    const submitted = await this.#http.json(routes.submitJobs, { body: jobs, ...submitCall(options) });
    return (submitted as { items: SubmittedJob[] }).items;
  }

  job(id: string, options?: CallOptions): Promise<JobDetail> {
    return this.#http.about(routes.readJob, id, options);
  }

  jobs(query: ListQuery = {}, options: CallOptions = {}): Promise<JobPage> {
    return this.#http.json(routes.listJobs, { query, ...options });
  }

  edit(id: string, edit: JobEditInput, options: CallOptions = {}): Promise<Job> {
    return this.#http.json(routes.editJob, { params: { id }, body: edit, ...options });
  }

  /** Cancels the job and its descendants that can no longer run; with `cascade: 'none'` only the job. */
  cancel(id: string, { cascade, ...options }: CallOptions & { cascade?: 'none' } = {}): Promise<Job> {
    const body = cascade === undefined ? {} : { body: { cascade } };
    return this.#http.json(routes.cancelJob, { params: { id }, ...body, ...options });
  }

  retry(id: string, options?: CallOptions): Promise<Job> {
    return this.#http.about(routes.retryJob, id, options);
  }

  rerun(id: string, options?: CallOptions): Promise<SubmittedJob> {
    return this.#http.about(routes.rerunJob, id, options);
  }

  /** Deletes an ended job with everything that is stored about it, and returns it as it was. */
  delete(id: string, options?: CallOptions): Promise<Job> {
    return this.#http.about(routes.deleteJob, id, options);
  }

  async attempts(id: string, options: CallOptions = {}): Promise<Attempt[]> {
    return (await this.#http.json(routes.listAttempts, { params: { id }, ...options })).items;
  }

  /** Returns the job once it has ended, or as it is after `timeout` (30 s). */
  wait(id: string, { timeout, ...options }: CallOptions & { timeout?: string | number } = {}): Promise<Job> {
    return this.#http.json(routes.waitJob, { params: { id }, query: { timeout }, ...options });
  }

  /** Returns what one attempt has printed so far, byte for byte. */
  async logs(id: string, { attempt, ...options }: LogRequest = {}): Promise<Uint8Array> {
    const call = { params: { id }, query: { attempt }, headers: { accept: 'text/plain' }, ...options };
    const chunks: Uint8Array[] = [];
    for await (const chunk of (await this.#http.open(routes.readLogs, call)).body) chunks.push(chunk);
    return new Uint8Array(await new Blob(chunks as Uint8Array<ArrayBuffer>[]).arrayBuffer());
  }

  /** Yields what the job has printed and prints, until it has ended. Reconnects if the connection breaks. */
  followLogs(id: string, options: LogRequest = {}): AsyncGenerator<LogEvent> {
    return followLogs(this.#http, id, options);
  }

  /** Yields hints that something changed; `reset` if some were missed. Ends when the connection does. */
  async *events(options: CallOptions = {}): AsyncGenerator<Event | { topic: 'reset' }> {
    const { body } = await this.#http.open(routes.streamEvents, { headers: EVENTS, ...options });
    for await (const { event, data } of readEvents(textChunks(body))) {
      yield event === 'reset' ? { topic: 'reset' } : (JSON.parse(data) as Event);
    }
  }

  bulk(request: BulkRequestInput, options: CallOptions = {}): Promise<BulkAnswer> {
    return this.#http.json(routes.bulkJobs, { body: request, ...options });
  }

  /** Submits all of its steps or none. */
  submitWorkflow(workflow: WorkflowSubmissionInput, options: SubmitOptions = {}): Promise<Workflow> {
    return this.#http.json(routes.submitWorkflow, { body: workflow, ...submitCall(options) });
  }

  workflow(id: string, options?: CallOptions): Promise<WorkflowDetail> {
    return this.#http.about(routes.readWorkflow, id, options);
  }

  workflows(query: WorkflowQuery = {}, options: CallOptions = {}): Promise<WorkflowPage> {
    return this.#http.json(routes.listWorkflows, { query, ...options });
  }

  cancelWorkflow(id: string, options?: CallOptions): Promise<Workflow> {
    return this.#http.about(routes.cancelWorkflow, id, options);
  }

  /** Deletes an ended workflow with all its jobs, and returns it as it was. */
  deleteWorkflow(id: string, options?: CallOptions): Promise<Workflow> {
    return this.#http.about(routes.deleteWorkflow, id, options);
  }

  retryWorkflow(id: string, options?: CallOptions): Promise<Workflow> {
    return this.#http.about(routes.retryWorkflow, id, options);
  }

  /** Returns the new workflow. */
  rerunWorkflow(id: string, request: RerunRequestInput, options: CallOptions = {}): Promise<Workflow> {
    return this.#http.json(routes.rerunWorkflow, { params: { id }, body: request, ...options });
  }

  operation(id: string, options?: CallOptions): Promise<Operation> {
    return this.#http.about(routes.readOperation, id, options);
  }

  schedules(query: ScheduleQuery = {}, options: CallOptions = {}): Promise<SchedulePage> {
    return this.#http.json(routes.listSchedules, { query, ...options });
  }

  schedule(name: string, options: CallOptions = {}): Promise<ScheduleDetail> {
    return this.#http.json(routes.readSchedule, { params: { name }, ...options });
  }

  createSchedule(schedule: ScheduleSubmissionInput, options: CallOptions = {}): Promise<Schedule> {
    return this.#http.json(routes.createSchedule, { body: schedule, ...options });
  }

  /** Creates or replaces a schedule; one that is equal already is left alone. */
  putSchedule(name: string, schedule: ScheduleDeclarationInput, options: CallOptions = {}): Promise<Schedule> {
    return this.#http.json(routes.putSchedule, { params: { name }, body: schedule, ...options });
  }

  editSchedule(name: string, edit: ScheduleEditInput, options: CallOptions = {}): Promise<Schedule> {
    return this.#http.json(routes.editSchedule, { params: { name }, body: edit, ...options });
  }

  deleteSchedule(name: string, options: CallOptions = {}): Promise<Schedule> {
    return this.#http.json(routes.deleteSchedule, { params: { name }, ...options });
  }

  pauseSchedule(name: string, { note, ...options }: CallOptions & { note?: string } = {}): Promise<Schedule> {
    const body = note === undefined ? {} : { note };
    return this.#http.json(routes.pauseSchedule, { params: { name }, body, ...options });
  }

  resumeSchedule(name: string, options: CallOptions = {}): Promise<Schedule> {
    return this.#http.json(routes.resumeSchedule, { params: { name }, ...options });
  }

  /** Runs it now, whether it is due, paused or neither. */
  async runSchedule(name: string, options: SubmitOptions & { keys?: readonly string[] } = {}): Promise<Tick[]> {
    const { keys, ...rest } = options;
    const body = keys === undefined ? {} : { body: { keys: [...keys] } };
    return (await this.#http.json(routes.runSchedule, { params: { name }, ...body, ...submitCall(rest) })).items;
  }

  /** Runs past ticks that have no run; with `dry_run`, only lists them. */
  backfillSchedule(name: string, request: BackfillRequestInput, options: SubmitOptions = {}): Promise<Backfill> {
    return this.#http.json(routes.backfillSchedule, { params: { name }, body: request, ...submitCall(options) });
  }

  /** Returns when it is due next, whether it is paused or not. */
  nextTicks(name: string, { count, ...options }: CallOptions & { count?: number } = {}): Promise<NextTicks> {
    return this.#http.json(routes.listNextTicks, { params: { name }, query: { count }, ...options });
  }

  /** Returns the ledger, newest first. */
  ticks(name: string, query: TickQuery = {}, options: CallOptions = {}): Promise<TickPage> {
    return this.#http.json(routes.listTicks, { params: { name }, query, ...options });
  }

  /** Explains an expression and lists when it would be due; stores nothing. */
  previewSchedule(request: SchedulePreviewRequestInput, options: CallOptions = {}): Promise<SchedulePreview> {
    return this.#http.json(routes.previewSchedule, { body: request, ...options });
  }

  /** Examines the machine of the server that answers, and the store. */
  async doctor(options: CallOptions = {}): Promise<Finding[]> {
    return (await this.#http.json(routes.readDoctor, options)).items;
  }

  /** Returns the instances on the server's store, and which of them performs which duty. */
  cluster(options: CallOptions = {}): Promise<Cluster> {
    return this.#http.json(routes.readCluster, options);
  }

  async queues(options: CallOptions = {}): Promise<Queue[]> {
    return (await this.#http.json(routes.listQueues, options)).items;
  }

  setQueue(name: string, edit: QueueEditInput, options: CallOptions = {}): Promise<Queue> {
    return this.#http.json(routes.editQueue, { params: { name }, body: edit, ...options });
  }

  workers(options: CallOptions = {}): Promise<Worker[]> {
    return allPages((cursor) => this.#http.json(routes.listWorkers, { query: { cursor }, ...options }));
  }

  drainWorker(id: string, options?: CallOptions): Promise<Worker> {
    return this.#http.about(routes.drainWorker, id, options);
  }

  /** Takes a drain back. A worker that has already left stays offline. */
  undrainWorker(id: string, options?: CallOptions): Promise<Worker> {
    return this.#http.about(routes.undrainWorker, id, options);
  }

  /** Returns what the schedules did since `from` (a day), and what they will do in the time `ahead` (6 h). */
  timeline({ from, ahead, each, ...options }: CallOptions & TimelineRequest = {}): Promise<Timeline> {
    return this.#http.json(routes.readTimeline, { query: { from, ahead, each }, ...options });
  }

  /** By minute and queue, unless a `step` sums minutes or `by: 'outcome'` the queues. */
  stats({ from, to, step, by, ...options }: CallOptions & StatsRequest = {}): Promise<Stats> {
    return this.#http.json(routes.readStats, { query: { from, to, step, by }, ...options });
  }

  /** Returns recent failures, grouped by title and error. */
  failures({ from, ...options }: CallOptions & { from?: string } = {}): Promise<Failures> {
    return this.#http.json(routes.listFailures, { query: { from }, ...options });
  }

  /** Resolves also if the server is not healthy. */
  health(options: CallOptions = {}): Promise<Health> {
    return this.#http.report(routes.readHealth, options);
  }

  /** Resolves also if the server is not ready. */
  ready(options: CallOptions = {}): Promise<Readiness> {
    return this.#http.report(routes.readReady, options);
  }
}

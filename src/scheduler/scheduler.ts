/** What a scheduler can do for its callers: the HTTP API, an in-process worker, the library. */

import type { NewStep, NewSteps, NewWorkflow } from '../core/dag/new-workflow.ts';
import type { Workflow, WorkflowFilter, WorkflowStep } from '../core/dag/workflow.ts';
import type { InstanceRow } from '../core/instance.ts';
import type { Attempt, ClaimedJob, Job, NewJob } from '../core/job.ts';
import type { JobEdit } from '../core/job-edit.ts';
import type { JobFilter } from '../core/job-filter.ts';
import type { DutyState } from '../core/leadership.ts';
import type { Heartbeat, HeartbeatAnswer, Report, Start } from '../core/lease.ts';
import type { NewOperation, Operation } from '../core/operation.ts';
import type { Settlement } from '../core/outcome.ts';
import type { LogChunk, LogPiece } from '../core/output.ts';
import type { QueueSettings, QueueState } from '../core/queue.ts';
import type { StatRow } from '../core/stats.ts';
import type { NewWorker, WorkerRow } from '../core/worker.ts';
import type { Hint } from '../store/hint.ts';
import type { ClaimRequest, Inserted, InsertOptions } from '../store/job-store.ts';
import type { Told } from './notify/told.ts';
import type { Schedules } from './schedules/schedules.ts';

export interface JobView extends Job, Told {
  /** One sentence; `null` where it does not wait. */
  waitingFor: string | null;
}

export interface JobPage {
  items: Job[];
  /** Pass as `before` for the next page; `null` at the end. */
  nextBefore: number | null;
}

export interface WorkflowView extends Workflow {
  /** Its steps, parents before their children, some at a time and once. Up to a thousand are as they stood at one moment. */
  pages: AsyncIterable<WorkflowStep[]>;
  /** The key of the step that a job belongs to, among those that were walked. */
  keyOf: (jobId: number) => string;
  /** Keys of steps, once all were walked. */
  criticalPath: () => string[];
}

export interface WorkflowPage {
  items: Workflow[];
  nextBefore: number | null;
}

export interface RerunRequest {
  from: string;
  only: boolean;
}

export interface ClusterView {
  instances: InstanceRow[];
  duties: DutyState[];
}

export interface Health {
  instanceId: string;
  uptimeMs: number;
  /** Loops that have not begun a round for too long; empty is healthy. */
  stuck: string[];
}

export interface Readiness {
  ready: boolean;
  /** What stands in the way, in words. */
  problems: string[];
}

export interface Scheduler extends Schedules, AsyncDisposable {
  readonly instanceId: string;
  readonly leaseMs: number;
  readonly heartbeatMs: number;
  /** Where the jobs are, for people. */
  readonly location: string;
  readonly driver: string;

  /** All or none, in order. Resolves once they are on disk. */
  submit(jobs: readonly NewJob[], options: InsertOptions, signal: AbortSignal): Promise<Inserted>;
  job(id: number, signal: AbortSignal): Promise<JobView>;
  jobs(filter: JobFilter, page: { before: number | null; limit: number }, signal: AbortSignal): Promise<JobPage>;
  attempts(id: number, signal: AbortSignal): Promise<Attempt[]>;
  /** Resolves with the job once it is terminal, or as it is when `timeoutMs` have passed. */
  wait(id: number, timeoutMs: number, signal: AbortSignal): Promise<Job>;
  /**
   * `cancelled` at once where it waited; a running job is asked to stop. What waits for it in vain is cancelled with it;
   * if `keepDependents`, it is judged by its conditions.
   */
  cancel(id: number, options: { keepDependents: boolean }, signal: AbortSignal): Promise<Job>;
  retry(id: number, signal: AbortSignal): Promise<Job>;
  edit(id: number, edit: JobEdit, signal: AbortSignal): Promise<Job>;
  /** AdaptiveBatch of one attempt's output beyond `from`; `attempt` null: the present or last one. */
  log(
    request: { id: number; attempt: number | null; from: number; maxBytes: number },
    signal: AbortSignal,
  ): Promise<LogSlice>;

  /** Counts what matches (up to 1,000,000) and, unless it is a dry run, starts the operation. */
  bulk(
    request: Omit<NewOperation, 'total'> & { dryRun: boolean },
    signal: AbortSignal,
  ): Promise<{ total: number; operation: Operation | null }>;
  operation(id: number, signal: AbortSignal): Promise<Operation>;

  /** All steps or none. Resolves once they are on disk. */
  submitWorkflow(
    workflow: NewWorkflow,
    options: InsertOptions,
    signal: AbortSignal,
  ): Promise<{ workflow: Workflow; replayed: boolean }>;
  workflow(id: number, signal: AbortSignal): Promise<WorkflowView>;
  workflows(
    filter: WorkflowFilter,
    page: { before: number | null; limit: number },
    signal: AbortSignal,
  ): Promise<WorkflowPage>;
  /** Every unfinished step: waiting ones at once, running ones are asked to stop. */
  cancelWorkflow(id: number, signal: AbortSignal): Promise<Workflow>;
  /** Every failed or cancelled step waits again; what was skipped because of them is judged anew. */
  retryWorkflow(id: number, signal: AbortSignal): Promise<Workflow>;
  /** A new workflow that repeats a step, and unless `only` everything below it; what they need and is done is kept. */
  rerunWorkflow(id: number, request: RerunRequest, signal: AbortSignal): Promise<Workflow>;

  queues(signal: AbortSignal): Promise<QueueState[]>;
  setQueue(name: string, settings: Partial<QueueSettings>, signal: AbortSignal): Promise<QueueState>;
  workers(signal: AbortSignal): Promise<WorkerRow[]>;
  drainWorker(id: number, signal: AbortSignal): Promise<WorkerRow>;
  stats(range: { from: number; to: number }, signal: AbortSignal): Promise<StatRow[]>;
  /** The processes on this store, and which of them performs which duty. */
  cluster(signal: AbortSignal): Promise<ClusterView>;

  // for workers
  register(worker: NewWorker, signal: AbortSignal): Promise<WorkerRow>;
  /** Waits up to `waitMs` for work, then answers with nothing. */
  claim(request: ClaimRequest & { waitMs: number }, signal: AbortSignal): Promise<ClaimedJob[]>;
  /** `started`: of jobs that were prefetched. */
  heartbeat(
    beat: Heartbeat & { started?: readonly Omit<Start, 'workerId'>[] },
    signal: AbortSignal,
  ): Promise<HeartbeatAnswer | undefined>;
  /** In order: accepted (or accepted before, the same), or no longer this worker's to say. */
  settle(settlements: readonly Settlement[], signal: AbortSignal): Promise<('ok' | 'lease_lost')[]>;
  writeLogs(chunks: readonly LogChunk[], signal: AbortSignal): Promise<boolean[]>;
  /** In order: whether the attempt was still held, and so its progress and checkpoint written. */
  report(reports: readonly Report[], signal: AbortSignal): Promise<boolean[]>;
  /** What the next attempt could go on from; `null`: nothing. */
  checkpoint(id: number, signal: AbortSignal): Promise<unknown>;
  leave(workerId: number, signal: AbortSignal): Promise<void>;

  subscribe(listener: (hint: Hint) => void): () => void;
  health(): Health;
  ready(signal: AbortSignal): Promise<Readiness>;
  /** Prometheus text. */
  metrics(signal: AbortSignal): Promise<{ contentType: string; body: string }>;
  /** From now on: not ready, claims answer with nothing, waits end. Requests in flight go on. */
  drain(): void;
}

export interface LogSlice {
  attempt: number;
  pieces: LogPiece[];
  /** Pass as `from` for what comes after. */
  next: number;
  /** The attempt has ended, so nothing will come after the pieces up to its end. */
  ended: boolean;
}

export type { Schedule } from '../core/schedule/schedule.ts';
export type { Tick } from '../core/schedule/tick.ts';
export { STAT_BUCKETS_MS } from '../core/stats.ts';
export type { Backfilled, BackfillRequest, SchedulePage, Schedules, TickPage } from './schedules/schedules.ts';
export type {
  DutyState,
  Hint,
  InstanceRow,
  JobFilter,
  NewStep,
  NewSteps,
  NewWorker,
  NewWorkflow,
  Operation,
  QueueState,
  StatRow,
  WorkerRow,
  Workflow,
  WorkflowStep,
};

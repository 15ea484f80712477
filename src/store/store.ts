/**
 * What any backend must do. One method is one atomic step: it happened for everybody or for nobody.
 *
 * Instants are epoch milliseconds by the store's own clock, which alone decides what is due and whose lease is over.
 * Every call takes its caller's signal: a call that was aborted before it was sent rejects with the signal's reason
 * and has changed nothing; one that was already sent has happened or not, never half.
 * A backend that is away for now rejects with `store_unavailable`, one whose disk is full with `store_full`.
 */

import type { Condition } from '../core/dag/conditions.ts';
import type { NewWorkflow } from '../core/dag/new-workflow.ts';
import type { StepCounts, WorkflowStatus } from '../core/dag/workflow-status.ts';
import type { Duty } from '../core/duty.ts';
import type { Attempt, ClaimedJob, Job, NewJob, Progress, Reason, Status } from '../core/job.ts';
import type { Offer } from '../core/lane.ts';
import type { Notify } from '../core/notify.ts';
import type { PulsePlan } from '../core/pulse.ts';
import type { Change } from '../core/transition.ts';
import type { NoticeStore } from './notice-store.ts';
import type { ScheduleStore } from './schedule-store.ts';
import type { Transactional } from './transactional.ts';

export type { NewForEach, NewStep, NewSteps, NewWorkflow } from '../core/dag/new-workflow.ts';
export type { Delivery, Notice, Notification, NotificationFilter } from './notice-store.ts';
export type {
  ChangeRequest,
  Judged,
  RunRequest,
  ScheduleFilter,
  ScheduleStep,
  Ticked,
  TickFilter,
  TickRequest,
} from './schedule-store.ts';

export const DRIVERS = ['memory', 'sqlite', 'postgres'] as const;
export type Driver = (typeof DRIVERS)[number];

export interface Store extends NoticeStore, ScheduleStore, AsyncDisposable {
  readonly driver: Driver;
  /** Where the jobs are, for people: a file, or a database without its password. */
  readonly location: string;
  /** Only this process can reach the jobs (memory, SQLite), so what an earlier owner's own workers held is free. */
  readonly exclusive: boolean;
  /** What can be done in transactions of the application's own; `null`: nothing. */
  readonly transactional: Transactional | null;
  /** How a worker's thread can renew its lease while the process's loop is blocked; `null`: one process owns the store, and reaps on the same loop. */
  readonly pulse: PulsePlan | null;

  /** The store's clock. Also the cheapest proof that the store is there. */
  now(signal: AbortSignal): Promise<number>;

  /** Transactions of this process that were done again because two waited for each other; 0 where none ever waits. */
  deadlocks(): number;

  // ---- jobs on their way through -------------------------------------------------------------------------------

  /**
   * Stores all jobs or none, and answers in order. A job due later starts as `scheduled`, else `pending`.
   * A job whose unique key is taken is not stored: `existing` answers with the holder, `replace` overwrites a holder
   * that still waits and answers with it (it keeps id, `createdAt` and `attempt`; its counters start anew), or with the
   * holder as it is where it no longer waits, `reject` throws `unique_conflict` and stores nothing.
   * With an idempotency key, the first call's answer is stored with its jobs: a later call with the same key and
   * fingerprint stores nothing and is answered the same (`replayed`); another fingerprint throws `idempotency_mismatch`.
   * A concurrent twin waits for the first.
   * A job with dependencies locks its parents before it reads their state, counts those that have ended, and starts as
   * `blocked`, free (as above, due and freed), or is ended `skipped` at once; an unknown parent throws `dependency_unknown`
   * with the ids and stores nothing.
   */
  insert(jobs: readonly NewJob[], options: InsertOptions, signal: AbortSignal): Promise<Inserted>;

  /**
   * Stores jobs that have neither keys nor parents, as `insert` does, while a worker waits for them, and hands out in the
   * same step what `claim` would right after it; or nothing, and then `claim` has to be asked. So nobody is overtaken. A
   * worker that may not claim is given nothing, and the jobs are stored all the same. `items` tells of the jobs as they were
   * stored, before any was handed out.
   */
  insertAndClaim(jobs: readonly NewJob[], request: ClaimRequest, signal: AbortSignal): Promise<InsertedAndClaimed>;

  /**
   * Moves up to `limit` claimable jobs that the offer can run to `running`, counts the attempt, and returns them, most
   * urgent first (priority, fair turn, due, id). No job is ever handed to two claimers. Takes nothing from paused
   * queues, no more than `max_running` of a queue allows, no more than the offer's free resources hold.
   * Each comes with its surroundings: parameters, item, parents' ends. A workflow whose step is claimed has started.
   * Lets go of unique keys held only `while: 'pending'`. Unknown or offline worker: throws `worker_not_found`.
   */
  claim(request: ClaimRequest, signal: AbortSignal): Promise<ClaimedJob[]>;

  /**
   * Notes when jobs that were claimed ahead have started, where they are still at this attempt of this worker. Until then
   * (or until a settle says so) they count as not started: one whose worker is lost goes back uncharged.
   */
  start(starts: readonly Start[], signal: AbortSignal): Promise<void>;

  /**
   * Renews a worker's lease on all it holds, and gives back at once what it was handed by a claim up to `seenClaim` but
   * does not list (recorded as `returned`, not charged; `cancelled` if that was asked). `undefined`: no such worker, it
   * must register again. An offline worker that reports is online again.
   */
  heartbeat(beat: Heartbeat, signal: AbortSignal): Promise<HeartbeatAnswer | undefined>;

  /**
   * The fast path: ends each job that is still at this attempt of this worker as `done`; answers in order.
   * A job already ended `done` by this very attempt answers `ok` again; anything else is `lease_lost`.
   * Whatever ends a job, here or in `applyChanges`, judges its direct children, its group and its workflow in the same
   * transaction, by counters; what a child's end means further down is left to `cascade`.
   */
  settle(successes: readonly Success[], signal: AbortSignal): Promise<Settled[]>;

  /**
   * Writes each change whose job still matches its fence; answers, in order, with the job as written, or `undefined`.
   * Each job at most once in a call.
   * Where another job holds the unique key of one to be reopened, throws `unique_conflict` and writes none.
   * A reopened job waits for those of its parents that have not ended; its own out-edges are open again: children that
   * never started (skipped ones too) are judged anew from all their edges, those that started are left alone. A reopened
   * item reopens its group, a reopened step its workflow.
   */
  applyChanges(changes: readonly Change[], signal: AbortSignal): Promise<(Job | undefined)[]>;

  /** Changes a job that waits; a new `runAt` (never before `createdAt`) decides anew between `scheduled` and `pending`. `undefined`: no such job, or it does not wait. */
  edit(jobId: number, edit: JobEdit, signal: AbortSignal): Promise<Job | undefined>;

  // ---- what the duties need ------------------------------------------------------------------------------------

  /** Moves up to `limit` due jobs from `scheduled` to `pending`; tells when the next one will be due. */
  promote(limit: number, signal: AbortSignal): Promise<Promoted>;

  /** Up to `limit` jobs that should have started by now (`expiresAt`), as they are. */
  findExpired(limit: number, signal: AbortSignal): Promise<Job[]>;

  /** Up to `limit` running jobs whose worker's lease is over, or whose worker is one of `dead`; each with when that worker was last heard. */
  findLost(request: { limit: number; dead: readonly number[] }, signal: AbortSignal): Promise<LostJob[]>;

  /** Workers attached to the database whose session lock is free: a hint that their process died. Empty where there are no such locks. */
  findUnlocked(signal: AbortSignal): Promise<Unlocked>;

  /** For which of `adopt`, `cascade` and `expand` there is something to do. Asked all the time, and cheap. */
  graphWork(signal: AbortSignal): Promise<GraphWork>;

  /**
   * Carries ends and reopenings of jobs further down, for up to `limit` jobs; answers with how many it carried. Safe to
   * stop anywhere and to run twice at once. Nothing to do: 0.
   */
  cascade(limit: number, signal: AbortSignal): Promise<number>;

  /**
   * Gives up to `limit` items to groups that are free and have not all of theirs (each index exactly once, no more than
   * `maxParallel` unfinished at a time), and ends groups that can have none; answers with how many jobs it inserted or
   * ended. Safe to stop anywhere and to run twice at once. Nothing to do: 0.
   */
  expand(limit: number, signal: AbortSignal): Promise<number>;

  /**
   * Judges up to `limit` jobs that applications submitted in transactions of their own, and carries on the ends that such
   * transactions wrote; answers with how many. Safe to stop anywhere and to run twice at once. Nothing to do: 0.
   */
  adopt(limit: number, signal: AbortSignal): Promise<number>;

  /** Marks workers whose lease is over as offline; forgets those offline for longer than `forgetAfterMs` that hold nothing. Answers with the ids marked. */
  retireWorkers(forgetAfterMs: number, signal: AbortSignal): Promise<number[]>;

  /** Deletes up to `limit` ended jobs older than the retention says, with all that belongs to them. Answers with how many. Also expired keys and old statistics. */
  prune(retention: Retention, limit: number, signal: AbortSignal): Promise<number>;

  // ---- reading -------------------------------------------------------------------------------------------------

  /** The jobs that exist, in the order of the ids asked for; unknown ids are left out. */
  read(ids: readonly number[], signal: AbortSignal): Promise<Job[]>;

  /** Newest first (id descending), below `before` where given. */
  list(filter: JobFilter, page: { before: number | null; limit: number }, signal: AbortSignal): Promise<Job[]>;

  /** How many match, counting no further than `atMost`. */
  count(filter: JobFilter, atMost: number, signal: AbortSignal): Promise<number>;

  /** Ended attempts, oldest first. */
  attempts(jobId: number, signal: AbortSignal): Promise<Attempt[]>;

  /** How many claimable jobs come before this one in its queue, counting no further than `atMost`. */
  countAhead(jobId: number, atMost: number, signal: AbortSignal): Promise<number>;

  // ---- workflows -----------------------------------------------------------------------------------------------

  /**
   * Stores a workflow with all its steps or nothing. Ids rise in the order of the steps. Kept steps are `done` from the
   * start, with a copy of the result of the job they repeat. Idempotency as in `insert`.
   */
  insertWorkflow(
    workflow: NewWorkflow,
    options: InsertOptions,
    signal: AbortSignal,
  ): Promise<{ workflow: Workflow; replayed: boolean }>;

  workflow(id: number, signal: AbortSignal): Promise<Workflow | undefined>;

  /** Newest first (id descending), below `before` where given. */
  workflows(
    filter: WorkflowFilter,
    page: { before: number | null; limit: number },
    signal: AbortSignal,
  ): Promise<Workflow[]>;

  /**
   * The steps of a workflow without the items of its groups, by id: all of them, or a page. `dependsOn` tells the edges.
   * One call is one look: pages of a workflow that goes on are of different moments.
   */
  steps(workflowId: number, signal: AbortSignal, page?: StepPage): Promise<WorkflowStep[]>;

  // ---- logs ----------------------------------------------------------------------------------------------------

  /**
   * Stores output of attempts that are still held by this worker; the same offset twice is stored once. Of each attempt the
   * first and last `LOG_HALF_BYTES` are kept, to the nearest chunk. Answers, in order, whether the attempt was still held.
   */
  appendLogs(chunks: readonly LogChunk[], signal: AbortSignal): Promise<boolean[]>;

  /** Chunks of one attempt with an end beyond `from`, by offset, about `maxBytes` at most (always one if there is one). */
  readLog(
    request: { jobId: number; attempt: number; from: number; maxBytes: number },
    signal: AbortSignal,
  ): Promise<LogPiece[]>;

  /**
   * Stores what attempts tell of themselves, if they are still held by this worker; each job at most once in a call. Answers,
   * in order, whether they were. A checkpoint stays until another is written, also for later attempts.
   */
  report(reports: readonly Report[], signal: AbortSignal): Promise<boolean[]>;

  /** The last checkpoint of any attempt; `null`: none. */
  checkpoint(jobId: number, signal: AbortSignal): Promise<unknown>;

  // ---- queues and workers --------------------------------------------------------------------------------------

  /** Every queue that has a setting or an unfinished job, by name. */
  queues(signal: AbortSignal): Promise<QueueState[]>;

  /** Changes a queue's settings, creating them where there were none. */
  setQueue(name: string, settings: Partial<QueueSettings>, signal: AbortSignal): Promise<QueueState>;

  /** Gives the worker its id, new at every call. */
  registerWorker(worker: NewWorker, signal: AbortSignal): Promise<WorkerRow>;

  workers(signal: AbortSignal): Promise<WorkerRow[]>;

  /** Asks a worker to finish what it has and leave. `undefined`: no such worker. */
  drainWorker(id: number, signal: AbortSignal): Promise<WorkerRow | undefined>;

  /** A worker that says good-bye: offline at once. What it still held is left to its lease. */
  leaveWorker(id: number, signal: AbortSignal): Promise<void>;

  // ---- statistics and bulk operations --------------------------------------------------------------------------

  /** Adds to the rows of these minutes. */
  addStats(rows: readonly StatRow[], signal: AbortSignal): Promise<void>;

  /** Rows of minutes in [from, to), by minute, queue and outcome, summed over instances (`instanceId` is empty). */
  stats(range: { from: number; to: number }, signal: AbortSignal): Promise<StatRow[]>;

  createOperation(operation: NewOperation, signal: AbortSignal): Promise<Operation>;
  operation(id: number, signal: AbortSignal): Promise<Operation | undefined>;
  /** Those that have not ended, oldest first. */
  openOperations(signal: AbortSignal): Promise<Operation[]>;
  /** Moves an operation on, adding to its counts, if it has not ended and its cursor is still `from`; `false` where another instance was faster. */
  advanceOperation(id: number, from: number | null, step: OperationStep, signal: AbortSignal): Promise<boolean>;

  // ---- instances and their duties ------------------------------------------------------------------------------

  /**
   * Keeps or takes duties for an instance, and answers in order with how each stands. A duty whose term is given is kept
   * for another `termMs` if that term is still this instance's and not over. Any other is taken if its term is over, or
   * where the store knows that its leader's session has ended: that raises the term, and this instance leads.
   */
  lead(request: LeadRequest, signal: AbortSignal): Promise<Led[]>;

  /** What this instance leads is free at once. */
  resign(instanceId: string, signal: AbortSignal): Promise<void>;

  /** Every duty that was ever led, by name. */
  duties(signal: AbortSignal): Promise<DutyState[]>;

  /**
   * This store for the writes of a leader: while one is made nobody else can take the duty, and where the term that
   * `fence` answers with is no longer the present one, it changes nothing and throws `leadership_lost`. Reads
   * are free. Dispose of the store that it comes from, not of it.
   */
  fenced(fence: () => Fence): Store;

  /** This process is there; to be said every `beatMs`. */
  beatInstance(instance: NewInstance, signal: AbortSignal): Promise<void>;

  /** Every process that is there, and those that went silent, the oldest first. */
  instances(signal: AbortSignal): Promise<InstanceRow[]>;

  /** A process that says good-bye is not listed any more. */
  leaveInstance(id: string, signal: AbortSignal): Promise<void>;

  /** Forgets processes that have been silent for so long; answers with how many. */
  forgetInstances(silentMs: number, signal: AbortSignal): Promise<number>;

  // ---- hints ---------------------------------------------------------------------------------------------------

  /** Calls `listener` soon after something changed here, or, where the backend can tell, elsewhere. Hints may be lost or false. */
  subscribe(listener: (hint: Hint) => void): () => void;
}

/** Hints save waiting; polling is what correctness rests on. */
export type Hint =
  /** Jobs may have become claimable. */
  | { topic: 'work' }
  /** These jobs changed (`ids` may be cut short). */
  | { topic: 'jobs'; ids: readonly number[] }
  /** Running jobs of these workers were asked to stop, or a worker to drain. */
  | { topic: 'workers'; ids: readonly number[] }
  /** There is something to cascade or to expand. */
  | { topic: 'graph' }
  /** A schedule was made or changed: it may be due earlier than was known. */
  | { topic: 'schedules' }
  /** A scheduled job may be due earlier than was known. */
  | { topic: 'due'; at: number }
  /** This process leads nothing any more: its session with the store has ended. */
  | { topic: 'leadership' };

/** How long an idempotency key is remembered. */
export const IDEMPOTENCY_MS = 24 * 3_600_000;

export interface InsertOptions {
  idempotency?: { key: string; fingerprint: string };
}

export interface Inserted {
  /** In the order of the call. `deduplicated`: this job was there before. */
  items: { job: Job; deduplicated: boolean }[];
  replayed: boolean;
}

export interface InsertedAndClaimed {
  items: Inserted['items'];
  /** Most urgent first. */
  claimed: ClaimedJob[];
}

export interface ClaimRequest {
  workerId: number;
  limit: number;
  offer: Offer;
  /** Rising per worker; `null` for a worker that does not count its claims: then only the lease decides. */
  claimSeq: number | null;
  /**
   * They will wait at the worker before they start, so only what may is taken, from the most urgent job on up to the first
   * that may not: handlers without resources, `rerun: safe`, not failed yet nor on the last attempt, in queues without a limit.
   */
  ahead?: boolean;
}

export interface Start extends LeaseRef {
  workerId: number;
  /** By the store's clock. */
  startedAt: number;
}

export interface LeaseRef {
  jobId: number;
  attempt: number;
}

export interface Heartbeat {
  workerId: number;
  /** All that it holds. `null`: renew whatever it holds (a worker that does not list). */
  leases: readonly LeaseRef[] | null;
  /** The highest claim that was answered or finally given up; `null` for a worker that does not count. */
  seenClaim: number | null;
}

export interface HeartbeatAnswer {
  /** Held, but somebody asked for it to stop. */
  cancel: LeaseRef[];
  /** Listed, but no longer this worker's. */
  lost: LeaseRef[];
  /** Finish what you have and leave. */
  drain: boolean;
  /** What the give-back returned, for those who watch. */
  returned: LeaseRef[];
}

export interface Success {
  jobId: number;
  attempt: number;
  workerId: number;
  exitCode: number | null;
  /** Of a job that was claimed ahead, if nobody has told before. */
  startedAt?: number;
  /** JSON; absent where there is none. */
  result?: unknown;
}

export type Settled =
  | {
      result: 'ok' /** `false` where this repeats an earlier answer. */;
      fresh: boolean;
      queue: string;
      dueAt: number;
      startedAt: number;
      endedAt: number;
    }
  | { result: 'lease_lost' };

export interface JobEdit {
  priority?: number;
  queue?: string;
  runAt?: number;
  timeoutMs?: number;
  maxAttempts?: number;
  tags?: readonly string[];
}

export interface Promoted {
  count: number;
  /** `null`: nothing is scheduled. */
  nextDueAt: number | null;
}

export interface GraphWork {
  adopt: boolean;
  cascade: boolean;
  expand: boolean;
}

export interface LostJob {
  job: Job;
  workerSeenAt: number;
}

export interface Unlocked {
  workers: { id: number; seenAt: number }[];
  /** How long the database server has been up; a restart frees every lock without anybody having died. */
  serverUpMs: number;
}

export interface Retention {
  doneMs: number;
  /** failed, cancelled, skipped. */
  otherMs: number;
  statsMs: number;
}

export interface Workflow {
  id: number;
  name: string;
  notify: readonly Notify[];
  params: Readonly<Record<string, unknown>>;
  status: WorkflowStatus;
  createdAt: number;
  /** Of the first claim of a step. */
  startedAt: number | null;
  endedAt: number | null;
  rerunOf: number | null;
  /** Steps, not counting items. */
  total: number;
  counts: StepCounts;
}

export interface WorkflowStep {
  job: Job;
  key: string;
  condition: Condition;
  /** Of a group: how far it is. */
  group: GroupState | null;
}

export interface GroupState {
  /** As it was given; the parent by its job id. */
  source: readonly unknown[] | { parentId: number; path: readonly string[] };
  /** `null` until its list is known. */
  total: number | null;
  maxParallel: number | null;
  /** Inserted so far. */
  inserted: number;
  counts: StepCounts;
}

export interface StepPage {
  /** Steps with ids above this; `null`: from the first. */
  after: number | null;
  limit: number;
}

export interface WorkflowFilter {
  status?: WorkflowStatus;
  name?: string;
}

export interface JobFilter {
  workflowId?: number;
  /** Items of this group. */
  groupId?: number;
  statuses?: readonly Status[];
  queue?: string;
  name?: string;
  /** All of them. */
  tags?: readonly string[];
  workerId?: number;
  reason?: Reason;
  /** Created in [from, to). */
  createdFrom?: number;
  createdTo?: number;
  /** Part of name, command, error or input, whatever the case; in the input spaces do not count. */
  text?: string;
  ids?: readonly number[];
  /** Jobs that depend on this one. */
  parentId?: number;
  /** Only among jobs with the newest so many ids. */
  newest?: number;
}

/** Bytes kept from each end of an attempt's output. */
export const LOG_HALF_BYTES = 5 * 1024 * 1024;

export interface LogChunk extends LeaseRef {
  workerId: number;
  offset: number;
  data: Uint8Array;
}

export interface LogPiece {
  offset: number;
  data: Uint8Array;
}

export interface Report extends LeaseRef {
  workerId: number;
  progress?: Progress;
  /** JSON. */
  checkpoint?: unknown;
}

export interface QueueSettings {
  paused: boolean;
  /** `null`: no limit. */
  maxRunning: number | null;
}

export interface QueueState extends QueueSettings {
  name: string;
  pausedAt: number | null;
  blocked: number;
  scheduled: number;
  pending: number;
  running: number;
  oldestPendingAt: number | null;
}

export const WORKER_STATES = ['online', 'draining', 'offline'] as const;

export interface NewWorker {
  /** For people: host and pid unless told otherwise. */
  name: string;
  /** In the owning process of an exclusive store, attached to the database, or behind HTTP. */
  attachment: 'local' | 'direct' | 'remote';
  /** Of the process that runs it. */
  instanceId: string;
  host: string;
  pid: number | null;
  address: string | null;
  slots: number;
  queues: readonly string[] | null;
  commands: boolean;
  handlers: readonly string[];
  tags: readonly string[];
  /** Total capacity by name: memory_mb, gpu … */
  resources: Readonly<Record<string, number>>;
  leaseMs: number;
  version: string;
}

export interface WorkerRow extends NewWorker {
  id: number;
  state: (typeof WORKER_STATES)[number];
  registeredAt: number;
  /** Of the last heartbeat, or of the registration. */
  seenAt: number;
  /** Jobs leased to it now. */
  running: number;
}

/** How one minute went for one queue and outcome. Histograms count by `STAT_BUCKETS_MS`, one more for all beyond. */
export interface StatRow {
  minute: number;
  instanceId: string;
  queue: string;
  outcome: 'submitted' | 'done' | 'failed' | 'cancelled' | 'skipped' | 'retried';
  count: number;
  wait: readonly number[];
  run: readonly number[];
}

export const STAT_BUCKETS_MS = [
  1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 3_600_000,
] as const;

export const BULK_ACTIONS = ['cancel', 'retry'] as const;

export interface NewOperation {
  action: (typeof BULK_ACTIONS)[number];
  filter: JobFilter;
  /** How many matched when it was asked for. */
  total: number;
}

export interface Operation extends NewOperation {
  id: number;
  status: 'running' | 'done' | 'cancelled';
  /** Jobs with ids below this are still to be looked at; `null`: not begun. */
  cursor: number | null;
  changed: number;
  /** Matched, but could not be changed (it had ended, it holds no longer). */
  skipped: number;
  createdAt: number;
  endedAt: number | null;
}

export interface OperationStep {
  cursor: number | null;
  changed: number;
  skipped: number;
  status: Operation['status'];
}

export interface LeadRequest {
  instanceId: string;
  /** With the term in which this instance leads each, `null` where it does not. */
  duties: readonly { duty: Duty; term: number | null }[];
  termMs: number;
}

/** A leader's right to write: as long as the duty's term is this one. */
export interface Fence {
  duty: Duty;
  term: number;
}

export interface DutyState {
  duty: Duty;
  /** Raised whenever the duty is taken. */
  term: number;
  /** Who leads in this term. */
  instanceId: string;
  expiresAt: number;
  /** Nobody leads: the term has ended. */
  over: boolean;
  /** The leader holds the duty's session lock; else its row alone says that it leads. */
  locked: boolean;
  /** Of the session lock; `null` where the store has none. */
  lockKey: readonly [space: number, number: number] | null;
}

export interface Led extends DutyState {
  /** Whether the instance that asked leads. */
  leads: boolean;
  /** It tried the session lock, which another session holds. */
  contended: boolean;
}

export interface NewInstance {
  id: string;
  host: string;
  pid: number;
  roles: readonly string[];
  version: string;
  /** Of its API; `null` where it has none. */
  url: string | null;
  beatMs: number;
}

export interface InstanceRow extends NewInstance {
  /** Offline: not heard for three beats. */
  state: 'online' | 'offline';
  startedAt: number;
  seenAt: number;
}

/** An instance that missed so many beats is offline. */
export const MISSED_BEATS = 3;

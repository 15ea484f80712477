/** The job: its statuses, what was submitted, and what the store knows about it. */

import type { CheckpointInfo } from './checkpoint.ts';
import type { Condition } from './dag/conditions.ts';
import type { DurableState, StepsPage } from './durable.ts';
import type { Gang, GangContext } from './gang.ts';
import type { Limit, ON_LIMIT, Rate } from './meter.ts';
import type { Notify } from './notify.ts';
import type { Thrown } from './outcome.ts';
import type { TickOfJob } from './schedule/tick.ts';
import type { Env } from './secret.ts';
import type { Unique } from './unique.ts';

export const STATUSES = [
  'blocked',
  'scheduled',
  'pending',
  'running',
  'done',
  'failed',
  'cancelled',
  'skipped',
] as const;
export type Status = (typeof STATUSES)[number];

export const TERMINAL_STATUSES = ['done', 'failed', 'cancelled', 'skipped'] as const;
export type TerminalStatus = (typeof TERMINAL_STATUSES)[number];

/** Unfinished and not leased: no worker runs the job, so it can be edited, or cancelled at once. */
export const WAITING_STATUSES = ['blocked', 'scheduled', 'pending'] as const;
export type WaitingStatus = (typeof WAITING_STATUSES)[number];

/** Why a terminal job is not `done`. */
export const REASONS = [
  'exit',
  'signal',
  'timeout',
  'lost',
  'interrupted',
  'fatal',
  'cancelled',
  'upstream_failed',
  'condition',
  'expired',
  'limit',
  'gang',
  'step',
] as const;
export type Reason = (typeof REASONS)[number];

export const RERUN = ['safe', 'never'] as const;
export const ON_DISCONNECT = ['stop', 'finish'] as const;
export const BACKOFF_TYPES = ['exponential', 'fixed', 'none'] as const;

/** The delay between failures. */
export interface Backoff {
  type: (typeof BACKOFF_TYPES)[number];
  baseMs: number;
  factor: number;
  capMs: number;
  /** The share of the delay by which it may vary in either direction, 0…1. */
  jitter: number;
}

/** The submitted fields of a job, with every default filled in. */
export interface JobSpec {
  name: string | null;
  queue: string;
  priority: number;
  /** Exactly one of `command` and `handler` is set. */
  command: string | null;
  handler: string | null;
  /** JSON for the handler, or the standard input of the command; `null` if none was given. */
  input: unknown;
  /** True if the store may have the input only sealed: `sealedInput`, and `null` as `input`. */
  sealInput: boolean;
  /** The JSON of the input, which only a key can open; `null` before it is sealed, and for the worker that runs the job. */
  sealedInput: string | null;
  maxAttempts: number;
  backoff: Backoff;
  /** The only exit codes that are retried, and then no signal or timeout either; `null`: all are. */
  retryOn: readonly number[] | null;
  /** Exit codes that are never retried; `null`: none. */
  noRetryOn: readonly number[] | null;
  timeoutMs: number;
  startTimeoutMs: number | null;
  killGraceMs: number;
  rerun: (typeof RERUN)[number];
  onDisconnect: (typeof ON_DISCONNECT)[number];
  env: Env;
  cwd: string | null;
  tags: readonly string[];
  /** Tags that a worker must have. */
  requires: readonly string[];
  /** The part of a worker's capacity that the job takes while it runs. */
  resources: Readonly<Record<string, number>>;
  fairKey: string | null;
  /** Keys with a maximum of jobs that run at a time; each key once. */
  limits: readonly Limit[];
  /** Keys with a maximum of attempts that start in a period; each key once. */
  rates: readonly Rate[];
  /** What happens at a full limit: the job waits, or ends as skipped. A rate is always waited for. */
  onLimit: (typeof ON_LIMIT)[number];
  /** The gang that it is a member of. Members start together, and are never claimed one by one. */
  gang: Gang | null;
  /** True if a failure counts as success for the job's children and workflow. */
  continueOnFailure: boolean;
  /** The notify targets of the job's end. Not used for items of a `for_each` step: their group notifies. */
  notify: readonly Notify[];
  /** The tick of a schedule that the job runs for; `null` for a submitted job. */
  tick: TickOfJob | null;
  /** Who submitted it; `null` if the caller has no name. */
  submittedBy: string | null;
}

/** A parent, and the condition that its end must meet. */
export interface Dependency {
  jobId: number;
  condition: Condition;
}

export const DEFAULT_BACKOFF: Backoff = {
  type: 'exponential',
  baseMs: 5_000,
  factor: 2,
  capMs: 3_600_000,
  jitter: 0.2,
};

export const DEFAULT_SPEC: JobSpec = {
  name: null,
  queue: 'default',
  priority: 0,
  command: null,
  handler: null,
  input: null,
  sealInput: false,
  sealedInput: null,
  maxAttempts: 3,
  backoff: DEFAULT_BACKOFF,
  retryOn: null,
  noRetryOn: null,
  timeoutMs: 300_000,
  startTimeoutMs: null,
  killGraceMs: 10_000,
  rerun: 'safe',
  onDisconnect: 'stop',
  env: {},
  cwd: null,
  tags: [],
  requires: [],
  resources: {},
  fairKey: null,
  limits: [],
  rates: [],
  onLimit: 'queue',
  gang: null,
  continueOnFailure: false,
  notify: [],
  tick: null,
  submittedBy: null,
};

/** A job to be inserted. The store assigns ids and instants. */
export interface NewJob extends JobSpec {
  /** The earliest start; `null`: now. */
  runAt: number | null;
  /** The earliest start, as a delay after submission; `null`: now. At most one of `runAt` and `delayMs` is set. */
  delayMs: number | null;
  unique: Unique | null;
  /** Each parent at most once. All conditions must be met. */
  dependsOn: readonly Dependency[];
}

/** How often the attempts of a job have ended in each way. */
export interface Counters {
  /** Failures, timeouts and losses, which count against `maxAttempts`. */
  failures: number;
  interruptions: number;
  snoozes: number;
  /** The part of `failures` that are lost workers. After the first loss the job is retried without delay. */
  losses: number;
}

/** A job as it is read: a copy, never shared state. Instants are epoch milliseconds by the store's clock. */
export interface Job extends JobSpec, Counters {
  id: number;
  status: Status;
  /** The fencing number: the number of claims so far. */
  attempt: number;
  createdAt: number;
  /** When the job is or was due. */
  dueAt: number;
  /** The start of the current or last attempt; `null` while a prefetched job waits at its worker. */
  startedAt: number | null;
  doneAt: number | null;
  /** The worker of the current or last attempt. */
  workerId: number | null;
  /** The last heartbeat of a running job's worker. */
  lastHeartbeatAt: number | null;
  cancelRequestedAt: number | null;
  /** It was asked to stop with its gang, which will start again; nobody has cancelled it. */
  gangStop: boolean;
  /** If not started by then, the job fails with reason `expired`. `null` from the first claim on, and once ended. */
  expiresAt: number | null;
  /** How an ended job ended (`null` if no attempt ended it); before, how its last attempt with an error ended. */
  exitCode: number | null;
  signal: string | null;
  error: string | null;
  /** The error that the handler threw; `null` for commands, and for ends that no error caused. */
  thrown: Thrown | null;
  reason: Reason | null;
  result: unknown;
  /** The progress that the current or last attempt reported. */
  progress: Progress | null;
  /** The checkpoint that its next attempt can continue from. */
  checkpoint: CheckpointInfo | null;
  dependsOn: readonly Dependency[];
  /** The workflow of a step, or of an item of a step. */
  workflowId: number | null;
  stepKey: string | null;
  /** For an item: the job of its `for_each` step, and the item's position in the list. */
  groupId: number | null;
  groupIndex: number | null;
  /** The job that this one repeats. */
  rerunOf: number | null;
  /** The unique key that it was submitted with, whether or not it still holds it. */
  uniqueKey: string | null;
  /** What is known of its steps; absent for a job without. */
  durable?: DurableState;
}

export interface Progress {
  /** 0…1. */
  fraction: number;
  text: string | null;
}

/** A job as its worker gets it, with the lease under which it runs. */
export interface ClaimedJob extends JobSpec {
  id: number;
  attempt: number;
  failures: number;
  dueAt: number;
  /** When the job was claimed. This is its start, unless it was prefetched. */
  startedAt: number;
  /** The job was prefetched: it may wait at the worker, which reports when it starts. */
  prefetched?: true;
  /** It may have ended the worker that held it before: nothing else should start beside it. */
  suspect?: true;
  /** The steps of its function, as many as a claim brings; absent if it has none. */
  steps?: StepsPage;
  /** The variables in `env` whose values are secrets: they are masked in its output. */
  secretEnv?: readonly string[];
  /** The data of its workflow and parents; `null` for a job without either. */
  runContext: RunContext | null;
  /** For a member of a gang. */
  gangContext?: GangContext;
}

export interface RunContext {
  /** The workflow and the step that it runs for; `null` for a job that is not in a workflow. */
  workflow: { id: number; step: string } | null;
  /** The parameters of its workflow. */
  params: Readonly<Record<string, unknown>>;
  /** For an item: its value and its position in the list. */
  item: { value: unknown; index: number } | null;
  /** Ordered by id; an item has the parents of its group. Jobs of one claim may share this list. */
  parents: readonly ParentEnd[];
}

/** How a parent ended. */
export interface ParentEnd {
  jobId: number;
  /** The step key if there is one, else the name, else the id. */
  key: string;
  status: TerminalStatus;
  result: unknown;
}

export function isTerminal(status: Status): status is TerminalStatus {
  return (TERMINAL_STATUSES as readonly Status[]).includes(status);
}

export function isWaiting(status: Status): status is WaitingStatus {
  return (WAITING_STATUSES as readonly Status[]).includes(status);
}

/** What a job is: the words that every other part uses for it. */

import type { Condition } from './dag/conditions.ts';
import type { Notify } from './notify.ts';
import type { TickOfJob } from './schedule/tick.ts';

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

/** Unfinished and not leased: nobody runs it, so a person may edit it or cancel it at once. */
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
] as const;
export type Reason = (typeof REASONS)[number];

export const RERUN = ['safe', 'never'] as const;
export const ON_DISCONNECT = ['stop', 'finish'] as const;
export const BACKOFF_TYPES = ['exponential', 'fixed', 'none'] as const;
export const UNIQUE_CONFLICTS = ['existing', 'replace', 'reject'] as const;

/** How long to wait between failures. */
export interface Backoff {
  type: (typeof BACKOFF_TYPES)[number];
  baseMs: number;
  factor: number;
  capMs: number;
  /** Share of the delay by which it may vary either way, 0…1. */
  jitter: number;
}

/** At most one unfinished job per key, for as long as `while` says. */
export interface Unique {
  key: string;
  /** Until the first claim, until the end, or for so many milliseconds from submission. */
  while: 'pending' | 'active' | number;
  onConflict: (typeof UNIQUE_CONFLICTS)[number];
}

/** What the submitter asked for, with every default filled in. */
export interface JobSpec {
  name: string | null;
  queue: string;
  priority: number;
  /** Exactly one of `command` and `handler` is set. */
  command: string | null;
  handler: string | null;
  /** JSON for the handler; `null` where none was given. */
  input: unknown;
  maxAttempts: number;
  backoff: Backoff;
  /** Exit codes that alone are retried; `null`: all. */
  retryOn: readonly number[] | null;
  /** Exit codes that are never retried; `null`: none. */
  noRetryOn: readonly number[] | null;
  timeoutMs: number;
  startTimeoutMs: number | null;
  killGraceMs: number;
  rerun: (typeof RERUN)[number];
  onDisconnect: (typeof ON_DISCONNECT)[number];
  env: Readonly<Record<string, string>>;
  cwd: string | null;
  tags: readonly string[];
  /** Tags that a worker must have. */
  requires: readonly string[];
  /** What the job takes of a worker's capacity while it runs. */
  resources: Readonly<Record<string, number>>;
  fairKey: string | null;
  /** Its failure counts as success for its children and its workflow. */
  continueOnFailure: boolean;
  /** Who is told of its end. Items of a `for_each` step leave that to their group. */
  notify: readonly Notify[];
  /** The tick of a schedule that it runs for; `null` for a job that somebody submitted. */
  tick: TickOfJob | null;
}

/** A job to be waited for, and what must become of it. */
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
  continueOnFailure: false,
  notify: [],
  tick: null,
};

/** A job on its way into a store. Instants and ids are the store's to give. */
export interface NewJob extends JobSpec {
  /** Not before this instant; `null`: now. */
  runAt: number | null;
  /** Not before so long after submission; `null`: now. At most one of the two is set. */
  delayMs: number | null;
  unique: Unique | null;
  /** Each job at most once; all must hold. */
  dependsOn: readonly Dependency[];
}

/** How many of each kind of end the attempts of a job have had so far. */
export interface Counters {
  /** Counted against `maxAttempts`: failures, timeouts, losses. */
  failures: number;
  interruptions: number;
  snoozes: number;
  /** The part of `failures` that were lost workers: the first goes back at once. */
  losses: number;
}

/** A job as it is read: always a copy, never shared state. Instants are epoch milliseconds by the store's clock. */
export interface Job extends JobSpec, Counters {
  id: number;
  status: Status;
  /** The fencing number: claims so far. */
  attempt: number;
  createdAt: number;
  /** When it is, or was, due. */
  dueAt: number;
  /** Start of the present or last attempt; `null` while a job that was prefetched waits at its worker. */
  startedAt: number | null;
  doneAt: number | null;
  /** The worker of the present or last attempt. */
  workerId: number | null;
  /** When the worker of a running job last reported. */
  lastHeartbeatAt: number | null;
  cancelRequestedAt: number | null;
  /** Not started by then: `failed` with reason `expired`. So long after it is due; `null` from the first claim on, and once ended. */
  expiresAt: number | null;
  /** These three tell how an ended job ended (`null` where no attempt did it); before, how the last attempt with an error went. */
  exitCode: number | null;
  signal: string | null;
  error: string | null;
  reason: Reason | null;
  result: unknown;
  /** What the present or last attempt told of how far it is. */
  progress: Progress | null;
  dependsOn: readonly Dependency[];
  /** The workflow whose step it is, or whose step's item. */
  workflowId: number | null;
  stepKey: string | null;
  /** Of an item: the job of the `for_each` step it belongs to, and its place in the list. */
  groupId: number | null;
  groupIndex: number | null;
  /** The job that this one repeats. */
  rerunOf: number | null;
}

export interface Progress {
  /** 0…1. */
  fraction: number;
  text: string | null;
}

/** What a worker gets: the spec to run and the lease under which it runs. */
export interface ClaimedJob extends JobSpec {
  id: number;
  attempt: number;
  failures: number;
  dueAt: number;
  /** When it was claimed: the start, unless it was prefetched. */
  startedAt: number;
  /** It may wait at the worker, which tells when it starts. */
  prefetched?: true;
  /** What it can know of those around it; `null` for a job that stands alone. */
  runContext: RunContext | null;
}

export interface RunContext {
  /** Of its workflow, as given. */
  params: Readonly<Record<string, unknown>>;
  /** Of an item: what to work on, and its place in the list. */
  item: { value: unknown; index: number } | null;
  /** In the order of their ids; an item has those of its group. Jobs of one claim may share them. */
  parents: readonly ParentEnd[];
}

/** How a parent ended. */
export interface ParentEnd {
  jobId: number;
  /** Step key, else name, else id. */
  key: string;
  status: TerminalStatus;
  result: unknown;
}

/** How one attempt ended, for the record. */
export const ATTEMPT_OUTCOMES = [
  'done',
  'failed',
  'timeout',
  'lost',
  'interrupted',
  'snoozed',
  'cancelled',
  'returned',
] as const;
export type AttemptOutcome = (typeof ATTEMPT_OUTCOMES)[number];

/** One ended attempt of a job. */
export interface Attempt {
  jobId: number;
  attempt: number;
  workerId: number | null;
  startedAt: number;
  endedAt: number;
  outcome: AttemptOutcome;
  exitCode: number | null;
  signal: string | null;
  error: string | null;
}

export function isTerminal(status: Status): status is TerminalStatus {
  return (TERMINAL_STATUSES as readonly Status[]).includes(status);
}

export function isWaiting(status: Status): status is WaitingStatus {
  return (WAITING_STATUSES as readonly Status[]).includes(status);
}

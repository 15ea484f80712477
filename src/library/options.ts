/** Options of a job, and their form on the wire. */

import type { JobSubmissionInput } from '../api/job-submission.ts';
import type { Condition } from '../core/dag/conditions.ts';
import { WorkronError } from '../core/error.ts';
import type { Gang } from '../core/gang.ts';
import type { Backoff, JobSpec } from '../core/job.ts';
import { didYouMean } from '../core/suggest.ts';
import type { Unique } from '../core/unique.ts';
import { type Notify, notifyToWire } from './notify.ts';
import type { Transaction } from './transaction.ts';

/** `'90s'`, `'1h30m'`, `'7d'`, or a number of milliseconds. */
export type Duration = string | number;

/** How many jobs with a key run at a time. */
export interface KeyLimit {
  key: string;
  max: number;
}

/** In no time of `per` do more than `limit` attempts with a key start. `burst` allows this number more after a time with fewer. */
export interface KeyRate {
  key: string;
  limit: number;
  per: Duration;
  burst?: number | undefined;
}

/** As many jobs of a submission as `size`, its members, that all start or none. */
export interface GangOptions {
  size: number;
  /** The least number of members to start with if not all fit. Default: `size`. */
  min?: number | undefined;
  /** `pack`: on as few workers as possible; `spread`: on as many. Default: `pack`. */
  spread?: Gang['spread'] | undefined;
  /** What happens if a member does not succeed. `restart`: all start again; `fail`: the others are cancelled; `continue`: they go on. Default: `restart`. */
  onMemberFailure?: Gang['onMemberFailure'] | undefined;
  /** Places that are not all held by then are chosen again. Default: 10 minutes. */
  timeout?: Duration | undefined;
  /** Refuse the submission if the workers that are online could not hold the members even when idle. */
  failFast?: boolean | undefined;
}

/** Options of all jobs of a kind. A submission can override them. */
export interface JobOptions {
  /** Default: `default`. */
  queue?: string | undefined;
  /** Jobs with a higher priority run first, from -32,768 to 32,767. Default: 0. */
  priority?: number | undefined;
  /** The number of failures after which the job has failed. Default: 3. */
  maxAttempts?: number | undefined;
  /** The delay before a retry. Default: exponential, from 5 s to 1 h. */
  backoff?:
    | {
        type?: Backoff['type'] | undefined;
        base?: Duration | undefined;
        factor?: number | undefined;
        cap?: Duration | undefined;
        jitter?: number | undefined;
      }
    | undefined;
  /** The time limit of one attempt. Default: 5 minutes. */
  timeout?: Duration | undefined;
  /** The job fails if it has not started this long after it was due. */
  startTimeout?: Duration | undefined;
  /** How long an attempt may take to stop after its signal has aborted. Default: 10 s. */
  killGrace?: Duration | undefined;
  /** `never`: once an attempt has started, only a person can start another. Default: `safe`. */
  rerun?: JobSpec['rerun'] | undefined;
  /** `finish`: the attempt continues while its worker has no contact, and reports later. Default: `stop`. */
  onDisconnect?: JobSpec['onDisconnect'] | undefined;
  /** The store has the input encrypted. Only the worker that runs the job gets it. Needs a secrets key. Default: false. */
  sealInput?: boolean | undefined;
  /** Tags for filtering. */
  tags?: readonly string[] | undefined;
  /** Tags that the worker must have. */
  requires?: readonly string[] | undefined;
  /** The part of a worker's resources that it takes while it runs. */
  resources?: Readonly<Record<string, number>> | undefined;
  /** The job starts only if fewer than `max` jobs with the key run, over all workers together. */
  limits?: readonly KeyLimit[] | undefined;
  /** At most `limit` attempts with the key start in any time of `per`, over all workers together. */
  rates?: readonly KeyRate[] | undefined;
  /** What happens at a full limit: the job waits, or ends as skipped. Default: `queue`. */
  onLimit?: JobSpec['onLimit'] | undefined;
  /** The job is a gang. Its handle is that of the member with rank 0, and has the others as `members`. */
  gang?: GangOptions | undefined;
  /** Notifications about its end. */
  notify?: readonly Notify[] | undefined;
}

export interface SubmitOptions extends JobOptions {
  /** A name for people to read. */
  name?: string | undefined;
  /** The job is due after this time. */
  delay?: Duration | undefined;
  /** The job is due at this instant. */
  runAt?: Date | string | undefined;
  /** Fair keys with waiting jobs take turns within a queue. */
  fairKey?: string | undefined;
  /** Environment variables of a command. A handler finds them in its context. `{ secret: 'name' }` is the value of a secret. */
  env?: Readonly<Record<string, string | { secret: string }>> | undefined;
  /** Jobs that must end first, as handles or ids. `if` is the condition on how they end. */
  dependsOn?: readonly (Parent | { job: Parent; if: Condition })[] | undefined;
  /** Allows at most one unfinished job with this key. */
  unique?:
    | {
        key: string;
        /** How long the key is taken. `pending`: until the first start; `active`: until the end; or a duration. Default: `active`. */
        while?: Duration | undefined;
        onConflict?: Unique['onConflict'] | undefined;
        /** Debounce: start this long after the submission; with `replace`, after the last one. */
        wait?: Duration | undefined;
        /** With `wait` and `replace`: start at the latest this long after the first submission. */
        maxWait?: Duration | undefined;
      }
    | undefined;
  /** A repeated submission with the same key and content returns the first job and submits nothing. */
  idempotencyKey?: string | undefined;
  /** Who submits it: `submitted_by` of the job. Default: `actor` of `open`. Refused over HTTP: there the token says who it is. */
  actor?: string | undefined;
  /** A transaction of the application. The job exists once it commits, and never if it rolls back. */
  tx?: Transaction | undefined;
  signal?: AbortSignal | undefined;
}

type Parent = string | { readonly id: string };

/** A submission without its input. Submissions of a job without options of their own share one object. */
export type JobTemplate = Omit<JobSubmissionInput, 'input'>;

/** Merges options into a template. Later options win. */
export function templateOf(
  work: { handler: string } | { command: string },
  ...options: readonly SubmitOptions[]
): JobTemplate {
  const template: Record<string, unknown> = { ...work };
  for (const given of options) {
    for (const [property, value] of Object.entries(given)) {
      const field = FIELDS[property as keyof SubmitOptions] as string | null | undefined;
      if (field === undefined) throw unknownOption(property);
      if (field !== null && value !== undefined) template[field] = encode(property, value);
    }
    // `delay` and `runAt` replace each other.
    if (given.delay !== undefined && given.runAt === undefined) delete template['run_at'];
    if (given.runAt !== undefined && given.delay === undefined) delete template['delay'];
  }
  return template;
}

/** Limits and rates as functions of the input. */
export interface OfInput {
  limits?: (input: never) => readonly KeyLimit[];
  rates?: (input: never) => readonly KeyRate[];
}

/** Adds what depends on the input, unless `options` have their own. */
export function withInput<T extends JobTemplate>(
  template: T,
  ofInput: OfInput | null,
  { input, options = {} }: { input: unknown; options?: Pick<JobOptions, 'limits' | 'rates'> | undefined },
): T {
  if (ofInput === null) return template;
  const { limits, rates } = ofInput;
  return {
    ...template,
    ...(limits !== undefined && options.limits === undefined && { limits: [...limits(input as never)] }),
    ...(rates !== undefined && options.rates === undefined && { rates: rates(input as never).map(given) as KeyRate[] }),
  };
}

const FIELDS: Readonly<Record<keyof SubmitOptions, string | null>> = {
  queue: 'queue',
  priority: 'priority',
  maxAttempts: 'max_attempts',
  backoff: 'backoff',
  timeout: 'timeout',
  startTimeout: 'start_timeout',
  killGrace: 'kill_grace',
  rerun: 'rerun',
  onDisconnect: 'on_disconnect',
  sealInput: 'seal_input',
  tags: 'tags',
  requires: 'requires',
  resources: 'resources',
  onLimit: 'on_limit',
  gang: 'gang',
  notify: 'notify',
  name: 'name',
  delay: 'delay',
  runAt: 'run_at',
  fairKey: 'fair_key',
  limits: 'limits',
  rates: 'rates',
  env: 'env',
  dependsOn: 'depends_on',
  unique: 'unique',
  idempotencyKey: null,
  actor: null,
  tx: null,
  signal: null,
};

function unknownOption(property: string): WorkronError {
  const known = Object.keys(FIELDS);
  return new WorkronError(
    'bad_request',
    `${property}: unknown option; ${didYouMean(property, known) ?? `known are ${known.join(', ')}`}`,
  );
}

function encode(property: string, value: unknown): unknown {
  switch (property) {
    case 'runAt':
      return value instanceof Date ? value.toISOString() : value;
    case 'dependsOn':
      return parentsOf(value as NonNullable<SubmitOptions['dependsOn']>);
    case 'gang': {
      const { onMemberFailure, failFast, ...gang } = value as GangOptions;
      return given({ ...gang, on_member_failure: onMemberFailure, fail_fast: failFast });
    }
    case 'backoff':
      return given(value);
    case 'rates':
      return Array.isArray(value) ? value.map(given) : value;
    case 'notify':
      return notifyToWire(value as readonly Notify[]);
    case 'unique': {
      const { onConflict, maxWait, ...unique } = value as NonNullable<SubmitOptions['unique']>;
      return given({ ...unique, on_conflict: onConflict, max_wait: maxWait });
    }
    default:
      return value;
  }
}

/** Leaves out properties that are `undefined`: they count as not given. */
export function given(options: unknown): unknown {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) return options;
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

/** Parents as the API takes them: ids instead of handles. */
export function parentsOf(list: NonNullable<SubmitOptions['dependsOn']>) {
  return list.map((entry) =>
    typeof entry === 'object' && 'if' in entry ? { job: idOf(entry.job), if: entry.if } : idOf(entry),
  );
}

function idOf(parent: Parent): string {
  return typeof parent === 'string' ? parent : parent.id;
}

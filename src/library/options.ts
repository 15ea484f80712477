/** What may be said about a job beside its input, and how that goes over the wire. */

import type { JobSubmissionInput } from '../api/job-submission.ts';
import type { Condition } from '../core/dag/conditions.ts';
import type { Backoff, JobSpec, Unique } from '../core/job.ts';
import { type Notify, notifyToWire } from './notify.ts';
import type { Transaction } from './transaction.ts';

/** `'90s'`, `'1h30m'`, `'7d'`, or milliseconds. */
export type Duration = string | number;

/** What holds for every job of a kind, unless a submission says otherwise. */
export interface JobOptions {
  /** `default`. */
  queue?: string;
  /** Higher first, -32,768 to 32,767; 0. */
  priority?: number;
  /** How often it may fail in all; 3. */
  maxAttempts?: number;
  /** Between failures: exponential from 5 s to 1 h. */
  backoff?: { type?: Backoff['type']; base?: Duration; factor?: number; cap?: Duration; jitter?: number };
  /** For one attempt; 5 minutes. */
  timeout?: Duration;
  /** Fails unless it has started by then. */
  startTimeout?: Duration;
  /** How long an attempt that was told to stop may take; 10 s. */
  killGrace?: Duration;
  /** `never`: once an attempt has started, nothing but a person starts another. */
  rerun?: JobSpec['rerun'];
  /** `finish`: goes on while its worker is cut off, and reports late. */
  onDisconnect?: JobSpec['onDisconnect'];
  tags?: readonly string[];
  /** Tags that a worker must have. */
  requires?: readonly string[];
  /** What it takes of a worker's capacity while it runs. */
  resources?: Readonly<Record<string, number>>;
  /** Who is told of its end. */
  notify?: readonly Notify[];
}

export interface SubmitOptions extends JobOptions {
  /** For people. */
  name?: string;
  /** Not before so long from now. */
  delay?: Duration;
  /** Not before this instant. */
  runAt?: Date | string;
  /** Keys that have work take turns within a queue. */
  fairKey?: string;
  /** Variables of a command; a handler finds them in its context. */
  env?: Readonly<Record<string, string>>;
  /** Jobs that must end before: handles or ids; `if` says how. */
  dependsOn?: readonly (Parent | { job: Parent; if: Condition })[];
  /** At most one unfinished job with this key. */
  unique?: {
    key: string;
    /** `pending`: until its first start; `active` (the default): until its end; or a duration. */
    while?: Duration;
    onConflict?: Unique['onConflict'];
  };
  /** A repeated submission with the same key and content is answered like the first, and submits nothing. */
  idempotencyKey?: string;
  /** The application's own transaction: the job is there once that commits, and never if it does not. */
  tx?: Transaction;
  signal?: AbortSignal;
}

export type Parent = string | { readonly id: string };

/** A submission without its input; the same object for all that are alike. */
export type JobTemplate = Omit<JobSubmissionInput, 'input'>;

/** Later options win. */
export function templateOf(
  work: { handler: string } | { command: string },
  ...options: readonly SubmitOptions[]
): JobTemplate {
  const template: Record<string, unknown> = { ...work };
  for (const given of options) {
    for (const [property, value] of Object.entries(given)) {
      const field = FIELDS[property as keyof SubmitOptions];
      // What is not known goes on under its own name, to be refused with a suggestion.
      if (field !== null && value !== undefined) template[field ?? property] = encode(property, value);
    }
    // The later of the two counts, as a whole.
    if (given.delay !== undefined && given.runAt === undefined) delete template['run_at'];
    if (given.runAt !== undefined && given.delay === undefined) delete template['delay'];
  }
  return template;
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
  tags: 'tags',
  requires: 'requires',
  resources: 'resources',
  notify: 'notify',
  name: 'name',
  delay: 'delay',
  runAt: 'run_at',
  fairKey: 'fair_key',
  env: 'env',
  dependsOn: 'depends_on',
  unique: 'unique',
  idempotencyKey: null,
  tx: null,
  signal: null,
};

function encode(property: string, value: unknown): unknown {
  switch (property) {
    case 'runAt':
      return value instanceof Date ? value.toISOString() : value;
    case 'dependsOn':
      return parentsOf(value as NonNullable<SubmitOptions['dependsOn']>);
    case 'notify':
      return notifyToWire(value as readonly Notify[]);
    case 'unique': {
      const { onConflict, ...unique } = value as NonNullable<SubmitOptions['unique']>;
      return onConflict === undefined ? unique : { ...unique, on_conflict: onConflict };
    }
    default:
      return value;
  }
}

/** By their ids. */
export function parentsOf(list: NonNullable<SubmitOptions['dependsOn']>) {
  return list.map((entry) =>
    typeof entry === 'object' && 'if' in entry ? { job: idOf(entry.job), if: entry.if } : idOf(entry),
  );
}

function idOf(parent: Parent): string {
  return typeof parent === 'string' ? parent : parent.id;
}

/**
 * How a job's spec is stored: what is searched or sorted has columns, the rest is JSON that holds only what differs from the
 * defaults. Both databases store the same.
 */

import type { RunTimes } from '../core/capacity.ts';
import { type ClaimedJob, DEFAULT_SPEC, type JobSpec } from '../core/job.ts';

export interface SpecColumns {
  queue: string;
  /** '' for commands, else the handler's name. */
  kind: string;
  name: string | null;
  priority: number;
  tags: readonly string[];
  spec: StoredSpec;
}

export type StoredSpec = Record<string, unknown>;

/** The JSON name of each property that has no column. */
const STORED_AS = {
  command: 'command',
  input: 'input',
  sealInput: 'seal_input',
  sealedInput: 'sealed_input',
  maxAttempts: 'max_attempts',
  backoff: 'backoff',
  retryOn: 'retry_on',
  noRetryOn: 'no_retry_on',
  timeoutMs: 'timeout_ms',
  startTimeoutMs: 'start_timeout_ms',
  killGraceMs: 'kill_grace_ms',
  rerun: 'rerun',
  onDisconnect: 'on_disconnect',
  env: 'env',
  cwd: 'cwd',
  requires: 'requires',
  resources: 'resources',
  fairKey: 'fair_key',
  limits: 'limits',
  rates: 'rates',
  onLimit: 'on_limit',
  gang: 'gang',
  continueOnFailure: 'continue_on_failure',
  notify: 'notify',
  tick: 'tick',
  submittedBy: 'submitted_by',
} as const satisfies Partial<Record<keyof JobSpec, string>>;

const PROPERTIES = Object.entries(STORED_AS) as [keyof typeof STORED_AS, string][];
const PROPERTY_OF: ReadonlyMap<string, keyof JobSpec> = new Map(PROPERTIES.map(([property, key]) => [key, property]));
const DEFAULT_JSON = Object.fromEntries(
  PROPERTIES.map(([property]) => [property, JSON.stringify(DEFAULT_SPEC[property])]),
) as Record<keyof typeof STORED_AS, string>;

/** Encodes a spec. Takes any object with a spec's properties and ignores other properties. */
export function encodeSpec(spec: JobSpec): SpecColumns {
  if (spec.sealInput && spec.sealedInput === null) throw new Error('an input that is to be sealed reached the store');
  const stored: StoredSpec = {};
  for (const [property, key] of PROPERTIES) {
    const value = spec[property];
    if (!isDefault(property, value)) stored[key] = value;
  }
  return {
    queue: spec.queue,
    kind: spec.handler ?? '',
    name: spec.name,
    priority: spec.priority,
    tags: spec.tags,
    spec: stored,
  };
}

/** The inverse of `encodeSpec`: fills in every default and shares nothing with other specs. */
export function decodeSpec({ queue, kind, name, priority, tags, spec: stored }: SpecColumns): JobSpec {
  const spec: JobSpec = {
    ...DEFAULT_SPEC,
    queue,
    name,
    priority,
    tags,
    handler: kind === '' ? null : kind,
    backoff: { ...DEFAULT_SPEC.backoff },
    env: {},
    requires: [],
    resources: {},
    limits: [],
    rates: [],
    notify: [],
  };
  setStored(spec, stored);
  return spec;
}

/** Defaults that claimed jobs share. Nothing changes a claimed job's spec, and a handler that tries gets an error. */
const SHARED = {
  backoff: Object.freeze({ ...DEFAULT_SPEC.backoff }),
  object: Object.freeze({}),
  list: Object.freeze([]),
};

type ClaimFields = Pick<ClaimedJob, 'id' | 'attempt' | 'failures' | 'dueAt' | 'startedAt'>;

/** A claimed job without a run context. Written out in one literal, because this runs for every job. */
export function claimedJob(columns: SpecColumns, { id, attempt, failures, dueAt, startedAt }: ClaimFields): ClaimedJob {
  const job: ClaimedJob = {
    name: columns.name,
    queue: columns.queue,
    priority: columns.priority,
    command: DEFAULT_SPEC.command,
    handler: columns.kind === '' ? null : columns.kind,
    input: DEFAULT_SPEC.input,
    sealInput: DEFAULT_SPEC.sealInput,
    sealedInput: DEFAULT_SPEC.sealedInput,
    maxAttempts: DEFAULT_SPEC.maxAttempts,
    backoff: SHARED.backoff,
    retryOn: DEFAULT_SPEC.retryOn,
    noRetryOn: DEFAULT_SPEC.noRetryOn,
    timeoutMs: DEFAULT_SPEC.timeoutMs,
    startTimeoutMs: DEFAULT_SPEC.startTimeoutMs,
    killGraceMs: DEFAULT_SPEC.killGraceMs,
    rerun: DEFAULT_SPEC.rerun,
    onDisconnect: DEFAULT_SPEC.onDisconnect,
    env: SHARED.object,
    cwd: DEFAULT_SPEC.cwd,
    tags: columns.tags.length === 0 ? SHARED.list : columns.tags,
    requires: SHARED.list,
    resources: SHARED.object,
    fairKey: DEFAULT_SPEC.fairKey,
    limits: SHARED.list,
    rates: SHARED.list,
    onLimit: DEFAULT_SPEC.onLimit,
    gang: DEFAULT_SPEC.gang,
    continueOnFailure: DEFAULT_SPEC.continueOnFailure,
    notify: SHARED.list,
    tick: DEFAULT_SPEC.tick,
    submittedBy: DEFAULT_SPEC.submittedBy,
    id,
    attempt,
    failures,
    dueAt,
    startedAt,
    runContext: null,
  };
  setStored(job, columns.spec);
  return job;
}

function setStored(spec: JobSpec, stored: StoredSpec): void {
  for (const key in stored) {
    const property = PROPERTY_OF.get(key);
    if (property !== undefined) (spec as unknown as Record<string, unknown>)[property] = stored[key];
  }
}

/** How long a run can take, as statements read it from a stored spec; `null` for defaults. */
export type StoredTimes = { readonly [K in keyof RunTimes]: RunTimes[K] | null };

export function timesOf(stored: StoredTimes | undefined): RunTimes {
  return {
    timeoutMs: stored?.timeoutMs ?? DEFAULT_SPEC.timeoutMs,
    killGraceMs: stored?.killGraceMs ?? DEFAULT_SPEC.killGraceMs,
    onDisconnect: stored?.onDisconnect ?? DEFAULT_SPEC.onDisconnect,
  };
}

/** The unique key of a job, which is stored beside its spec. */
export function uniqueKeyOf(stored: StoredSpec): string | null {
  return (stored['unique_key'] as string | undefined) ?? null;
}

/** The JSON name of an item's value, which is stored beside its spec: code that rewrites a spec must keep it. */
const ITEM_KEY = 'item';

/** Adds an item's value to its stored spec. */
export function withItem(columns: SpecColumns, value: unknown): SpecColumns {
  return { ...columns, spec: { ...columns.spec, [ITEM_KEY]: value } };
}

/** The inverse of `withItem`; `undefined` for a job that is not an item. */
export function itemOf(stored: StoredSpec): unknown {
  return stored[ITEM_KEY];
}

function isDefault(property: keyof typeof STORED_AS, value: unknown): boolean {
  if (value === DEFAULT_SPEC[property]) return true;
  return typeof value === 'object' && JSON.stringify(value) === DEFAULT_JSON[property];
}

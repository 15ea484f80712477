/**
 * How a job's spec lies in a database: what is searched or sorted in columns of its own, the rest as JSON that holds
 * only what is not a default. Both databases store the same.
 */

import { DEFAULT_SPEC, type JobSpec } from '../core/job.ts';

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

/** Where each property that has no column of its own lies in the JSON. */
const STORED_AS = {
  command: 'command',
  input: 'input',
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
  continueOnFailure: 'continue_on_failure',
  notify: 'notify',
  tick: 'tick',
} as const satisfies Partial<Record<keyof JobSpec, string>>;

const PROPERTIES = Object.entries(STORED_AS) as [keyof typeof STORED_AS, string][];
const PROPERTY_OF: ReadonlyMap<string, keyof JobSpec> = new Map(PROPERTIES.map(([property, key]) => [key, property]));
const DEFAULT_JSON = Object.fromEntries(
  PROPERTIES.map(([property]) => [property, JSON.stringify(DEFAULT_SPEC[property])]),
) as Record<keyof typeof STORED_AS, string>;

/** The spec as it is stored. Takes any object that has a spec's properties and leaves its others out. */
export function encodeSpec(spec: JobSpec): SpecColumns {
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

/**
 * Whether they are the same but for their inputs. Nobody writes into a spec, so what is the same object has the same content.
 * Written out: a loop over names takes several times as long, and every job of a batch is compared.
 */
export function sameButInput(a: JobSpec, b: JobSpec): boolean {
  return (
    a.name === b.name &&
    a.queue === b.queue &&
    a.priority === b.priority &&
    a.command === b.command &&
    a.handler === b.handler &&
    a.maxAttempts === b.maxAttempts &&
    a.backoff === b.backoff &&
    a.retryOn === b.retryOn &&
    a.noRetryOn === b.noRetryOn &&
    a.timeoutMs === b.timeoutMs &&
    a.startTimeoutMs === b.startTimeoutMs &&
    a.killGraceMs === b.killGraceMs &&
    a.rerun === b.rerun &&
    a.onDisconnect === b.onDisconnect &&
    a.env === b.env &&
    a.cwd === b.cwd &&
    a.tags === b.tags &&
    a.requires === b.requires &&
    a.resources === b.resources &&
    a.fairKey === b.fairKey &&
    a.continueOnFailure === b.continueOnFailure &&
    a.notify === b.notify &&
    a.tick === b.tick
  );
}

/** The inverse of `encodeSpec`: every default filled in again, nothing shared with other specs. */
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
    notify: [],
  };
  for (const [key, value] of Object.entries(stored)) {
    const property = PROPERTY_OF.get(key);
    if (property !== undefined) (spec as unknown as Record<string, unknown>)[property] = value;
  }
  return spec;
}

/** Where the value of an item lies, beside its spec: whoever writes a spec anew must take it along. */
const ITEM_KEY = 'item';

/** The spec of a job of a group, with what it is to work on. */
export function withItem(columns: SpecColumns, value: unknown): SpecColumns {
  return { ...columns, spec: { ...columns.spec, [ITEM_KEY]: value } };
}

/** The inverse of `withItem`; `undefined` for a job that is no item. */
export function itemOf(stored: StoredSpec): unknown {
  return stored[ITEM_KEY];
}

function isDefault(property: keyof typeof STORED_AS, value: unknown): boolean {
  if (value === DEFAULT_SPEC[property]) return true;
  return typeof value === 'object' && JSON.stringify(value) === DEFAULT_JSON[property];
}

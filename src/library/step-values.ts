/** Names, options and results of steps. */

import { createHash } from 'node:crypto';
import { backoffMs } from '../core/backoff.ts';
import { MAX_STEP_BYTES, MAX_STEP_NAME_LENGTH, type Step } from '../core/durable.ts';
import { parseDuration } from '../core/duration.ts';
import { isWorkronError, messageOf } from '../core/error.ts';
import { Fatal, RetryAfter, StepChanged, StepFailed } from '../core/handler-errors.ts';
import { type Backoff, DEFAULT_BACKOFF } from '../core/job.ts';
import type { Thrown } from '../core/outcome.ts';
import { toJson } from './json.ts';
import type { Duration } from './options.ts';
import type { Schema } from './schema.ts';

/** A text, or a list that begins with one, for loops: `['page', 3]`. It is unique within the job. */
export type StepName = string | readonly [string, ...(string | number | boolean)[]];

export interface StepContext {
  /** The same for every try of this step of this job: for the idempotency of what it calls. */
  readonly key: string;
  /** Aborts when the attempt should end, and after the timeout of the step. */
  readonly signal: AbortSignal;
  /** The number of this try. The first is 1. */
  readonly attempt: number;
}

export interface StepOptions<S extends Schema | undefined = undefined> {
  /** How often the step is tried again after an error, with growing delays. Default: 0. */
  retry?: number | undefined;
  /** The delays between tries. Default: those of jobs. */
  backoff?: { base?: Duration | undefined; factor?: number | undefined; cap?: Duration | undefined } | undefined;
  /** The time limit of one try. */
  timeout?: Duration | undefined;
  /** What a stored result must fit, if an earlier version of the function may have written it. */
  as?: S;
}

/** The next attempt would do the same. */
export function refused(message: string): Fatal {
  return new Fatal(message, { code: 'step_refused' });
}

export function textOf(name: StepName): string {
  const isList = Array.isArray(name);
  const parts: readonly unknown[] = isList ? name : [name];
  const [first] = parts;
  const fits =
    typeof first === 'string' &&
    first !== '' &&
    (isList || !first.startsWith('[')) &&
    parts.every((part) => ['string', 'number', 'boolean'].includes(typeof part));
  const text = fits && isList ? JSON.stringify(name) : first;
  if (!fits || (text as string).length > MAX_STEP_NAME_LENGTH || /\p{Cc}/u.test(text as string)) {
    const expected = `a text of at most ${MAX_STEP_NAME_LENGTH} characters, or a list that begins with one`;
    throw refused(`name of a step: expected ${expected}, got ${JSON.stringify(name)?.slice(0, 100)}`);
  }
  return text as string;
}

/** Services take about 255 characters. */
export function keyOf(jobId: number, name: string): string {
  const key = `${jobId}:${name}`;
  return key.length <= 128 ? key : `${jobId}:${createHash('sha256').update(name).digest('base64url')}`;
}

export function msOf(value: Duration, what: string): number {
  const ms = parseDuration(value);
  if (ms === undefined) throw refused(`${what}: expected a duration such as "90s", got ${String(value)}`);
  return ms;
}

export function waitOf(until: Duration | Date): { ms: number } | { at: number } {
  if (!(until instanceof Date)) return { ms: msOf(until, 'sleep') };
  if (Number.isNaN(until.getTime())) throw refused('sleep: expected a valid date');
  return { at: until.getTime() };
}

/** A result that is not JSON, or too large, would not be otherwise in the next try. */
export function textOfResult(result: unknown): string | null {
  if (result === undefined) return null;
  try {
    const text = JSON.stringify(toJson(result, 'the result'));
    if (Buffer.byteLength(text) <= MAX_STEP_BYTES) return text;
  } catch (error) {
    throw isWorkronError(error) ? new Fatal(error.message, { cause: error, code: error.code }) : error;
  }
  throw new Fatal(`the result is larger than ${MAX_STEP_BYTES} bytes`, { code: 'payload_too_large' });
}

export async function resultOf({ name, result, thrown }: Step, schema: Schema | undefined): Promise<unknown> {
  if (thrown !== null) throw new StepFailed(name, thrown);
  const value = result === null ? undefined : (JSON.parse(result) as unknown);
  if (schema === undefined) return value;
  const checked = await schema['~standard'].validate(value);
  if (checked.issues === undefined) return checked.value;
  throw new StepChanged(
    name,
    `its stored result does not fit: ${checked.issues.map(({ message }) => message).join('; ')}`,
  );
}

export function plainly(error: unknown): Thrown {
  return { name: 'Error', message: messageOf(error), code: null, details: null, causes: [] };
}

export function delayOf(error: unknown, tries: number, { backoff = {} }: StepOptions<Schema | undefined>): number {
  if (error instanceof RetryAfter) return error.delayMs;
  const { base, factor = DEFAULT_BACKOFF.factor, cap } = backoff;
  const delays: Backoff = {
    ...DEFAULT_BACKOFF,
    ...(base !== undefined && { baseMs: msOf(base, 'backoff.base') }),
    ...(cap !== undefined && { capMs: msOf(cap, 'backoff.cap') }),
    factor,
  };
  return backoffMs(delays, tries, Math.random());
}

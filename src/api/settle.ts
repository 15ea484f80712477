/** Outcomes of attempts as workers report them. Text and results that jobs produced are cleaned, not refused. */

import { z } from 'zod';
import { MAX_STEP_NAME_LENGTH, MAX_STEPS } from '../core/durable.ts';
import { MAX_RESULT_BYTES, type Outcome, SETTLE_RESULTS, type Settlement, type Thrown } from '../core/outcome.ts';
import { cleanJson, cleanText } from '../core/text.ts';
import { duration, instant, label, storeId, toInstant, wholeNumber, wireId } from './fields.ts';
import { attemptNumber } from './heartbeat.ts';
import { meterKey } from './meters.ts';
import { itemsOf, named } from './schemas.ts';
import { ThrownError } from './thrown.ts';
import { Usage, usageFromWire, usageToWire } from './usage.ts';

const MAX_SETTLEMENTS = 10_000;
/** An error contains the last 2 KiB of output and a sentence; longer text is cut. */
const MAX_ERROR_LENGTH = 16_384;

const exitCode = wholeNumber(-(2 ** 31), 2 ** 31 - 1).nullable();
const signal = z
  .string()
  .max(32)
  .transform((value) => cleanText(value))
  .nullable();
const error = z.string().transform((value) => cleanText(value.slice(0, MAX_ERROR_LENGTH)));
const thrown = ThrownError.transform((value) => shortened(cleanJson(value) as Thrown)).meta({
  description: `At most ${MAX_ERROR_LENGTH} characters of JSON; if it is longer, details, then causes and errors, then all is left out.`,
});
const result = z
  .unknown()
  .transform((value) => cleanJson(value))
  .refine((value) => value === undefined || JSON.stringify(value).length <= MAX_RESULT_BYTES, {
    message: `a result may have at most ${MAX_RESULT_BYTES} bytes`,
  });

const outcome = z.discriminatedUnion('type', [
  z.object({ type: z.literal('succeeded'), exit_code: exitCode.default(null), result: result.optional() }),
  z.object({
    type: z.literal('failed'),
    exit_code: exitCode.default(null),
    signal: signal.default(null),
    error: error.default('failed'),
    thrown: thrown.exactOptional(),
    fatal: z.boolean().exactOptional(),
    step: z.boolean().exactOptional().meta({ description: 'A step of its function has failed for good.' }),
    retry_after: duration().exactOptional(),
  }),
  z.object({
    type: z.literal('timed_out'),
    exit_code: exitCode.default(null),
    signal: signal.default(null),
    error: error.default('timed out'),
  }),
  z.object({ type: z.literal('interrupted'), error: error.default('interrupted') }),
  z.object({
    type: z.literal('snoozed'),
    delay: duration(),
    error: error.exactOptional(),
    closes: z
      .union([z.literal('all'), z.object({ key: meterKey })])
      .exactOptional()
      .meta({
        description: 'The rates of the job under which nothing starts during the delay: all, or the one with this key.',
      }),
  }),
  z.object({
    type: z.literal('suspended'),
    awaits: z
      .array(label(MAX_STEP_NAME_LENGTH))
      .min(1)
      .max(MAX_STEPS)
      .meta({ description: 'The steps that the function waits for.' }),
  }),
  z.object({ type: z.literal('cancelled'), error: error.nullable().default(null) }),
  z.object({ type: z.literal('returned') }),
]);

export const SettleItem = named(
  'SettleItem',
  z.object({
    job_id: storeId,
    attempt: attemptNumber,
    started_at: instant.exactOptional().meta({ description: 'For a prefetched job: when it started.' }),
    outcome,
    usage: Usage.exactOptional(),
  }),
);
export type SettleItem = z.output<typeof SettleItem>;

/** Items are decoded one by one: a malformed one gets the result `invalid`, the others are settled. */
export const SettleRequest = named('SettleRequest', z.object({ items: z.array(z.unknown()).max(MAX_SETTLEMENTS) }));

export const SettleResult = named(
  'SettleResult',
  z.object({ job_id: wireId.nullable(), attempt: z.number().nullable(), result: z.enum(SETTLE_RESULTS) }),
);
export type SettleResult = z.output<typeof SettleResult>;

export const SettleAnswer = named('SettleAnswer', itemsOf(SettleResult));

/** The outcome of one attempt that succeeded, easy to write by hand. */
export const Done = named(
  'Done',
  z.object({
    worker_id: storeId,
    attempt: attemptNumber,
    exit_code: exitCode.default(0),
    result: result.optional(),
    usage: Usage.exactOptional(),
  }),
);
export type Done = z.output<typeof Done>;

export const Fail = named(
  'Fail',
  z.object({
    worker_id: storeId,
    attempt: attemptNumber,
    exit_code: exitCode.default(null),
    signal: signal.default(null),
    error: error.exactOptional(),
    thrown: thrown.exactOptional(),
    fatal: z.boolean().exactOptional().meta({ description: 'Never retry.' }),
    retry_after: duration().exactOptional(),
    usage: Usage.exactOptional(),
    timed_out: z.boolean().default(false),
    interrupted: z
      .boolean()
      .default(false)
      .meta({ description: 'The attempt was stopped from outside; it does not count as a failure.' }),
  }),
);
export type Fail = z.output<typeof Fail>;

export function outcomeFromDone(done: Done): Outcome {
  return { type: 'succeeded', exitCode: done.exit_code, ...given('result', done.result), ...usageOf(done) };
}

export function outcomeFromFail(fail: Fail): Outcome {
  const error = fail.error ?? describe(fail);
  const usage = usageOf(fail);
  if (fail.interrupted) return { type: 'interrupted', error, ...usage };
  if (fail.timed_out) return { type: 'timed_out', exitCode: fail.exit_code, signal: fail.signal, error, ...usage };
  return {
    type: 'failed',
    exitCode: fail.exit_code,
    signal: fail.signal,
    error,
    ...given('thrown', fail.thrown),
    ...given('fatal', fail.fatal),
    ...given('retryAfterMs', fail.retry_after),
    ...usage,
  };
}

function usageOf({ usage }: { usage?: z.output<typeof Usage> }): Pick<Outcome, 'usage'> {
  return usage === undefined ? {} : { usage: usageFromWire(usage) };
}

function describe(fail: Fail): string {
  if (fail.signal !== null) return `signal ${fail.signal}`;
  return fail.exit_code === null ? 'failed' : `exit ${fail.exit_code}`;
}

export function outcomeFromWire({ outcome, usage }: Pick<SettleItem, 'outcome' | 'usage'>): Outcome {
  return usage === undefined ? typeFromWire(outcome) : { ...typeFromWire(outcome), usage: usageFromWire(usage) };
}

function typeFromWire(wire: SettleItem['outcome']): Outcome {
  switch (wire.type) {
    case 'succeeded':
      return { type: 'succeeded', exitCode: wire.exit_code, ...given('result', wire.result) };
    case 'failed':
      return {
        type: 'failed',
        exitCode: wire.exit_code,
        signal: wire.signal,
        error: wire.error,
        ...given('thrown', wire.thrown),
        ...given('fatal', wire.fatal),
        ...given('step', wire.step),
        ...given('retryAfterMs', wire.retry_after),
      };
    case 'timed_out':
      return { type: 'timed_out', exitCode: wire.exit_code, signal: wire.signal, error: wire.error };
    case 'interrupted':
      return { type: 'interrupted', error: wire.error };
    case 'snoozed':
      return { type: 'snoozed', delayMs: wire.delay, ...given('error', wire.error), ...given('closes', wire.closes) };
    case 'suspended':
      return { type: 'suspended', awaits: wire.awaits };
    case 'cancelled':
      return { type: 'cancelled', error: wire.error };
    case 'returned':
      return { type: 'returned' };
  }
}

export function settlementToWire({ jobId, attempt, startedAt, outcome }: Settlement): z.input<typeof SettleItem> {
  return {
    job_id: String(jobId),
    attempt,
    outcome: outcomeToWire(outcome),
    ...(startedAt === undefined ? {} : { started_at: toInstant(startedAt) }),
    ...(outcome.usage === undefined ? {} : { usage: usageToWire(outcome.usage) }),
  };
}

function outcomeToWire(outcome: Outcome): z.input<typeof SettleItem>['outcome'] {
  switch (outcome.type) {
    case 'succeeded':
      return { type: 'succeeded', exit_code: outcome.exitCode, ...given('result', outcome.result) };
    case 'failed':
      return {
        type: 'failed',
        exit_code: outcome.exitCode,
        signal: outcome.signal,
        error: outcome.error,
        ...given('thrown', outcome.thrown),
        ...given('fatal', outcome.fatal),
        ...given('step', outcome.step),
        ...given('retry_after', outcome.retryAfterMs),
      };
    case 'timed_out':
      return { type: 'timed_out', exit_code: outcome.exitCode, signal: outcome.signal, error: outcome.error };
    case 'interrupted':
      return { type: 'interrupted', error: outcome.error };
    case 'snoozed':
      return {
        type: 'snoozed',
        delay: outcome.delayMs,
        ...given('error', outcome.error),
        ...given('closes', outcome.closes),
      };
    case 'suspended':
      return { type: 'suspended', awaits: [...outcome.awaits] };
    case 'cancelled':
      return { type: 'cancelled', error: outcome.error };
    case 'returned':
      return { type: 'returned' };
  }
}

/** The failure itself must arrive, whatever the length of what the handler threw. */
function shortened(value: Thrown): Thrown | undefined {
  const { errors: _, ...alone } = value;
  const shorter = [value, { ...value, details: null }, { ...alone, details: null, causes: [] }];
  return shorter.find((one) => JSON.stringify(one).length <= MAX_ERROR_LENGTH);
}

function given<K extends string, V>(key: K, value: V | undefined): { [key in K]?: V } {
  return value === undefined ? {} : ({ [key]: value } as { [key in K]: V });
}

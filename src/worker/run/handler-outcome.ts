/** What the return or the throw of a handler means for its attempt. */

import { Cancel, Fatal, RateLimited, RetryAfter, Snooze, StepFailed } from '../../core/handler-errors.ts';
import { MAX_RESULT_BYTES, type Outcome } from '../../core/outcome.ts';
import { cleanJson, cleanText } from '../../core/text.ts';
import type { Assignment } from './assignment.ts';
import { textOfThrown, thrownOf } from './thrown.ts';

export function outcomeOfStop({ stopped }: Assignment): Outcome {
  if (stopped === 'cancelled') return { type: 'cancelled', error: null };
  const error = stopped === 'cut_off' ? 'the worker lost contact with the scheduler' : 'the worker was stopped';
  return { type: 'interrupted', error };
}

export function succeed(value: unknown): Outcome {
  const outcome: Outcome = { type: 'succeeded', exitCode: null };
  if (value === undefined) return outcome;
  if (value === null || typeof value === 'boolean') return { ...outcome, result: value };
  try {
    const text = JSON.stringify(value) as string | undefined;
    if (text === undefined) return notJson(`it is a ${typeof value}`);
    if (Buffer.byteLength(text) > MAX_RESULT_BYTES) return failed('the result is larger than 1 MiB');
    return { ...outcome, result: cleanJson(JSON.parse(text)) };
  } catch (error) {
    return notJson(textOfThrown(error));
  }
}

/** Fatal: the next attempt would return it again. */
export function notJson(why: string): Outcome {
  return { ...failed(`the result is not JSON: ${why}`), fatal: true };
}

export function outcomeOfError(error: unknown, assignment: Assignment): Outcome {
  if (assignment.stopped !== null) return outcomeOfStop(assignment);
  const outcome = { ...failed(textOfThrown(error)), ...thrownOf(error) };
  try {
    if (error instanceof Snooze) return snoozed(error);
    if (error instanceof Cancel) return { type: 'cancelled', error: cleanText(error.message) };
    if (error instanceof Fatal) return { ...outcome, fatal: true };
    if (error instanceof StepFailed) return { ...outcome, thrown: error.thrown, step: true };
    return error instanceof RetryAfter ? { ...outcome, retryAfterMs: error.delayMs } : outcome;
  } catch {
    // A proxy or a getter of the thrown value has thrown.
    return outcome;
  }
}

function snoozed(error: Snooze): Outcome {
  const { delayMs, message } = error;
  const key = error instanceof RateLimited ? error.key : undefined;
  return {
    type: 'snoozed',
    delayMs,
    ...(message !== '' && { error: cleanText(message) }),
    ...(error instanceof RateLimited && { closes: key === undefined ? 'all' : { key } }),
  };
}

export function failed(error: string): Extract<Outcome, { type: 'failed' }> {
  return { type: 'failed', exitCode: null, signal: null, error };
}

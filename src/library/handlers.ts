/** Makes the handlers of a worker from jobs. */

import { WorkronError } from '../core/error.ts';
import { Fatal, Snooze } from '../core/handler-errors.ts';
import type { HandlerContext } from '../worker/run/handler-context.ts';
import type { Handler, Handlers } from '../worker/run/handler-executor.ts';
import { Context, type JobContext } from './context.ts';
import { runIsolated } from './isolated.ts';
import type { RunnableJob } from './job.ts';
import { aroundRun } from './middleware.ts';
import { checkOptions } from './option-errors.ts';
import { type Checked, InvalidInput } from './schema.ts';
import type { Submitter } from './submitter.ts';

/** A job whose input is not valid here goes back this often, with growing delays: over 2.5 minutes in all. */
const MAX_HAND_BACKS = 5;
const FIRST_HAND_BACK_MS = 5_000;

/** Handlers by name. Two jobs with the same name, and options that are not valid, are refused. */
export function handlersOf(jobs: readonly RunnableJob[], submitter: Submitter): Handlers {
  const handlers: Record<string, Handler> = {};
  for (const job of jobs) {
    if (Object.hasOwn(handlers, job.name)) {
      throw new WorkronError('bad_request', `jobs: expected unique names, got ${job.name} twice`);
    }
    checkOptions(job);
    handlers[job.name] = handlerOf(job, submitter);
  }
  submitter.checkStepsOf(jobs);
  return handlers;
}

function handlerOf(job: RunnableJob, submitter: Submitter): Handler {
  const { name, input: schema } = job;
  const run = runnerOf(job, submitter);
  if (schema === null || job.isolate !== null) return run;
  const { validate } = schema['~standard'];
  return (input, inner) => {
    const checked = validate(input);
    if (checked instanceof Promise) return checked.then((later) => run(valueOf(later, name, inner), inner));
    return run(valueOf(checked, name, inner), inner);
  };
}

/** Jobs without middleware and isolation run without their overhead. */
function runnerOf(job: RunnableJob, submitter: Submitter): Handler {
  const layers = submitter.middleware.filter(({ run }) => run !== undefined);
  const call = job.run as (input: unknown, context: JobContext) => unknown;
  const plain: Call =
    job.isolate === null
      ? (input, context) => call(input, context)
      : async (input, context, inner) => {
          try {
            return await runIsolated(job, { input, context, killGraceMs: inner.killGraceMs, calls: submitter.calls });
          } catch (error) {
            throw error instanceof InvalidInput ? handBack(error.message, inner) : error;
          }
        };
  return (input, inner) => {
    const context = new Context(inner, submitter);
    if (layers.every(({ passes }) => passes?.(context))) return plain(input, context, inner);
    const mask = (text: string) => inner.mask(text);
    return aroundRun(layers, { job: job.name, input, context, mask }, () => plain(input, context, inner));
  };
}

type Call = (input: unknown, context: JobContext, inner: HandlerContext) => unknown;

function valueOf(checked: Checked<unknown>, name: string, inner: HandlerContext): unknown {
  if (checked.issues === undefined) return checked.value;
  throw handBack(InvalidInput.of(name, checked.issues).message, inner);
}

/**
 * The input was valid for the program that submitted it, which may be newer than this worker. So the job first goes back
 * for another worker. It fails once that did not help, or at once if it may not be started again.
 */
function handBack(reason: string, { attempt, failures, rerun, step, steps }: HandlerContext): Error {
  // A function that was suspended has had more attempts than that, and another version of it will fit.
  const hasSteps = steps.steps.length > 0;
  const earlier = hasSteps ? MAX_HAND_BACKS - 1 : attempt - 1 - failures;
  const message = step === null ? reason : `step ${step}: ${reason}`;
  if (rerun === 'never' || earlier >= MAX_HAND_BACKS) return new Fatal(message, { code: 'invalid_input' });
  return new Snooze(FIRST_HAND_BACK_MS * 2 ** earlier, `handed back for another worker: ${message}`);
}

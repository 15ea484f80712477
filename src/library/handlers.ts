/** Makes the handlers of a worker from jobs. */

import { WorkronError } from '../core/error.ts';
import { Fatal } from '../core/handler-errors.ts';
import type { Handler, HandlerContext, Handlers } from '../worker/run/handler-executor.ts';
import { Context, type JobContext } from './context.ts';
import { runIsolated } from './isolated.ts';
import type { RunnableJob } from './job.ts';
import { aroundRun } from './middleware.ts';
import { type Checked, describeIssues } from './schema.ts';
import type { Submitter } from './submitter.ts';

/** Handlers by name. Two jobs with the same name are refused. */
export function handlersOf(jobs: readonly RunnableJob[], submitter: Submitter): Handlers {
  const handlers: Record<string, Handler> = {};
  for (const job of jobs) {
    if (Object.hasOwn(handlers, job.name)) {
      throw new WorkronError('bad_request', `jobs: expected unique names, got ${job.name} twice`);
    }
    handlers[job.name] = handlerOf(job, submitter);
  }
  return handlers;
}

function handlerOf(job: RunnableJob, submitter: Submitter): Handler {
  const { name, input: schema } = job;
  const run = runnerOf(job, submitter);
  if (schema === null || job.isolate !== null) return run;
  const { validate } = schema['~standard'];
  return (input, inner) => {
    const checked = validate(input);
    if (checked instanceof Promise) return checked.then((later) => run(valueOf(later, name), inner));
    return run(valueOf(checked, name), inner);
  };
}

/** Jobs without middleware and isolation run without their overhead. */
function runnerOf(job: RunnableJob, submitter: Submitter): Handler {
  const { middleware } = submitter;
  const call = job.run as (input: unknown, context: JobContext) => unknown;
  const plain: Call =
    job.isolate === null
      ? (input, context) => call(input, context)
      : (input, context, { killGraceMs }) => runIsolated(job, { input, context, killGraceMs, calls: submitter.calls });
  if (middleware.every(({ run }) => run === undefined)) {
    return (input, inner) => plain(input, new Context(inner, submitter), inner);
  }
  return (input, inner) => {
    const context = new Context(inner, submitter);
    return aroundRun(middleware, { job: job.name, input, context }, () => plain(input, context, inner));
  };
}

type Call = (input: unknown, context: JobContext, inner: HandlerContext) => unknown;

/** A stored input may be from an older version of the program. It stays invalid, so the job is not retried. */
function valueOf(checked: Checked<unknown>, name: string): unknown {
  if (checked.issues === undefined) return checked.value;
  throw new Fatal(`the input of ${name} is not valid: ${describeIssues(checked.issues)}`);
}

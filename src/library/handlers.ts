/** From jobs to what a worker calls. */

import { WorkronError } from '../core/error.ts';
import { Fatal } from '../core/handler-errors.ts';
import type { Handler, HandlerContext, Handlers } from '../worker/handler-executor.ts';
import { Context, type JobContext } from './context.ts';
import type { RunnableJob } from './job.ts';
import { type Checked, describeIssues } from './schema.ts';
import type { Submitter } from './submitter.ts';

/** Each name once. */
export function handlersOf(jobs: readonly RunnableJob[], submitter: Submitter): Handlers {
  const handlers: Record<string, Handler> = {};
  for (const job of jobs) {
    if (Object.hasOwn(handlers, job.name)) {
      throw new WorkronError('bad_request', `Two jobs have the name ${job.name}`);
    }
    handlers[job.name] = handlerOf(job, submitter);
  }
  return handlers;
}

function handlerOf({ name, input: schema, run }: RunnableJob, submitter: Submitter): Handler {
  const call = run as (input: unknown, context: JobContext) => unknown;
  const contextOf = (inner: HandlerContext) => new Context(inner, submitter);
  if (schema === null) return (input, inner) => call(input, contextOf(inner));
  const { validate } = schema['~standard'];
  return (input, inner) => {
    const checked = validate(input);
    if (checked instanceof Promise) return checked.then((later) => call(valueOf(later, name), contextOf(inner)));
    return call(valueOf(checked, name), contextOf(inner));
  };
}

/** What was stored may have been submitted by an older version of the program: trying again would not help. */
function valueOf(checked: Checked<unknown>, name: string): unknown {
  if (checked.issues === undefined) return checked.value;
  throw new Fatal(`the input of ${name} is not valid: ${describeIssues(checked.issues)}`);
}

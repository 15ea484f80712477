/** Runs jobs as functions of this process. */

import { formatDuration } from '../../core/duration.ts';
import { Stopped } from '../../core/handler-errors.ts';
import type { Outcome } from '../../core/outcome.ts';
import { after } from '../time/timer.ts';
import type { Assignment } from './assignment.ts';
import { Context, type HandlerContext, type HandlerReports } from './handler-context.ts';
import { failed, outcomeOfError, outcomeOfStop, succeed } from './handler-outcome.ts';
import type { Executor } from './runner.ts';

/** Returns the job's result (JSON), or throws. */
export type Handler = (input: unknown, context: HandlerContext) => unknown;
export type Handlers = Readonly<Record<string, Handler>>;

export function handlerExecutor(handlers: Handlers, reports: HandlerReports): Executor {
  return {
    run(assignment) {
      const name = assignment.job.handler as string;
      const handler = Object.hasOwn(handlers, name) ? handlers[name] : undefined;
      if (handler === undefined) return failed(`this worker has no handler ${name}`);
      const context = new Context(assignment, reports);
      try {
        const returned = handler(assignment.job.input, context);
        if (!isPromise(returned)) return finish(succeed(returned), context);
        // Here, because a promise with a strange constructor makes this throw.
        return settleLater(Promise.resolve(returned), assignment, context);
      } catch (error) {
        return finish(outcomeOfError(error, assignment), context);
      }
    },
  };
}

function finish(outcome: Outcome, context: Context): Outcome | Promise<Outcome> {
  return context.end()?.then(() => outcome) ?? outcome;
}

/** A handler that ignores its signal is settled after the grace period; its slot stays taken until it returns. */
async function settleLater(returned: Promise<unknown>, assignment: Assignment, context: Context): Promise<Outcome> {
  const { timeoutMs, killGraceMs } = assignment.job;
  const outcome = await new Promise<Outcome>((resolve) => {
    let stopped: Outcome | undefined;
    let disarm: () => void = () => undefined;
    const stop = (outcome: Outcome) => {
      stopped = outcome;
      disarm();
      disarm = after(killGraceMs, () => {
        assignment.stillBusy = ended;
        resolve(outcome);
      });
    };
    const end = (outcome: Outcome) => {
      // A stop that comes later must not start the grace period.
      stopped ??= outcome;
      disarm();
      resolve(outcome);
    };
    // Before the timer is set, which a `then` that throws would leave behind.
    const ended = returned.then(
      (value) => {
        if (context.durable === undefined) return end(stopped?.type === 'timed_out' ? stopped : succeed(value));
        return context.durable.returned().then((error) => {
          if (error !== undefined) return end(stopped ?? outcomeOfError(error, assignment));
          end(stopped?.type === 'timed_out' ? stopped : succeed(value));
        });
      },
      (error: unknown) => end(stopped ?? outcomeOfError(context.durable?.threw(error) ?? error, assignment)),
    );
    // A stop is no reason to do again what was waited for, but a timeout has passed.
    context.onSuspend = (outcome) => end(stopped?.type === 'timed_out' ? stopped : outcome);
    disarm = after(timeoutMs, () => {
      const error = `timed out after ${formatDuration(timeoutMs)}`;
      stop({ type: 'timed_out', exitCode: null, signal: null, error });
      assignment.abort(new Stopped('timeout', error));
    });
    assignment.onStop(() => {
      if (stopped === undefined) stop(outcomeOfStop(assignment));
    });
  });
  return finish(outcome, context);
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}

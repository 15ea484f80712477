/** Runs jobs as functions of this process. */

import { progressFrom } from '../../api/report.ts';
import { formatDuration } from '../../core/duration.ts';
import type { Gang, GangContext } from '../../core/gang.ts';
import { Cancel, Fatal, RateLimited, RetryAfter, Snooze, Stopped } from '../../core/handler-errors.ts';
import type { JobSpec, RunContext } from '../../core/job.ts';
import { MAX_RESULT_BYTES, type Outcome } from '../../core/outcome.ts';
import type { TickOfJob } from '../../core/schedule/tick.ts';
import { plainEnv } from '../../core/secret.ts';
import { cleanJson, cleanText } from '../../core/text.ts';
import { contentOf, valueOf } from '../report/checkpoint-value.ts';
import type { OutputStream } from '../report/output-stream.ts';
import type { OutputWriter } from '../report/output-writer.ts';
import type { Reporter } from '../report/reporter.ts';
import { after } from '../time/timer.ts';
import type { Assignment } from './assignment.ts';
import type { Executor } from './runner.ts';
import { textOfThrown, thrownOf } from './thrown.ts';

/** A handler cannot be made to wait, so lines beyond this number of unwritten bytes are dropped. */
const MAX_WAITING_BYTES = 1024 * 1024;

export interface HandlerContext {
  readonly jobId: number;
  readonly attempt: number;
  /** The failures of earlier attempts. */
  readonly failures: number;
  readonly rerun: JobSpec['rerun'];
  /** Aborts when the attempt should end: cancelled, timed out, or the worker stops. Its reason is a `Stopped`. */
  readonly signal: AbortSignal;
  readonly queue: string;
  /** How long the handler may take to stop once its signal has aborted. */
  readonly killGraceMs: number;
  /** The variables that the job was submitted with. */
  readonly env: Readonly<Record<string, string>>;
  /** The parameters of its workflow; empty if it has none. */
  readonly params: RunContext['params'];
  /** For an item of a `for_each` step: its value and its position in the list; else `null`. */
  readonly item: RunContext['item'];
  /** How its parents ended, with their results. */
  readonly parents: RunContext['parents'];
  /** The tick of a schedule that the job runs for; `null` for a submitted job. */
  readonly tick: TickOfJob | null;
  /** The gang that it is a member of, with the hosts of all members; `null` for other jobs. */
  readonly gang: (Gang & GangContext) | null;
  /** Adds a line to the attempt's output. */
  log(line: string): void;
  /** Reports progress: a fraction from 0 to 1, and a text. */
  progress(fraction: number, text?: string): void;
  /** Stores JSON, or bytes, that the next attempt can continue from. Resolves once it is on disk. */
  checkpoint(value: unknown): Promise<void>;
  /** The last checkpoint of this or an earlier attempt; `null`: none. */
  lastCheckpoint(): Promise<unknown>;
  /** Identifies the attempt to the scheduler. */
  readonly lease: { jobId: number; attempt: number; workerId: number };
}

const NO_CONTEXT: RunContext = { workflow: null, params: {}, item: null, parents: [] };

/** Returns the job's result (JSON), or throws. */
export type Handler = (input: unknown, context: HandlerContext) => unknown;
export type Handlers = Readonly<Record<string, Handler>>;

export function handlerExecutor(
  handlers: Handlers,
  { output, reporter }: { output: OutputWriter; reporter: Reporter },
): Executor {
  return {
    run(assignment) {
      const name = assignment.job.handler as string;
      const handler = Object.hasOwn(handlers, name) ? handlers[name] : undefined;
      if (handler === undefined) return failed(`this worker has no handler ${name}`);
      const context = new Context(assignment, output, reporter);
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

/** Creates a signal or a stream only for handlers that use one. */
class Context implements HandlerContext {
  readonly #assignment: Assignment;
  readonly #output: OutputWriter;
  readonly #reporter: Reporter;
  #hasProgress = false;
  stream: OutputStream | undefined;
  #waiting = 0;

  constructor(assignment: Assignment, output: OutputWriter, reporter: Reporter) {
    this.#assignment = assignment;
    this.#output = output;
    this.#reporter = reporter;
  }

  /** Resolves once all output and progress is written; `undefined` if there was none. */
  end(): Promise<unknown> | undefined {
    if (this.stream === undefined && !this.#hasProgress) return undefined;
    return Promise.all([this.stream?.end(), this.#hasProgress ? this.#reporter.end(this.#assignment) : undefined]);
  }

  get lease(): HandlerContext['lease'] {
    return this.#assignment;
  }

  progress(fraction: number, text?: string): void {
    this.#hasProgress = true;
    this.#reporter.progress(this.#assignment, progressFrom(fraction, text ?? null));
  }

  checkpoint(value: unknown): Promise<void> {
    return this.#reporter.checkpoint(this.#assignment, contentOf(value));
  }

  async lastCheckpoint(): Promise<unknown> {
    const content = await this.#reporter.lastCheckpoint(this.#assignment, this.signal);
    return content === null ? null : valueOf(content);
  }

  get jobId(): number {
    return this.#assignment.jobId;
  }

  get attempt(): number {
    return this.#assignment.attempt;
  }

  get failures(): number {
    return this.#assignment.job.failures;
  }

  get rerun(): JobSpec['rerun'] {
    return this.#assignment.job.rerun;
  }

  get signal(): AbortSignal {
    return this.#assignment.signal;
  }

  get queue(): string {
    return this.#assignment.job.queue;
  }

  get killGraceMs(): number {
    return this.#assignment.job.killGraceMs;
  }

  get env(): Readonly<Record<string, string>> {
    return Object.freeze(plainEnv(this.#assignment.job.env));
  }

  get params(): RunContext['params'] {
    return this.#runContext.params;
  }

  get item(): RunContext['item'] {
    return this.#runContext.item;
  }

  get parents(): RunContext['parents'] {
    return this.#runContext.parents;
  }

  get tick(): TickOfJob | null {
    return this.#assignment.job.tick;
  }

  get gang(): (Gang & GangContext) | null {
    const { gang, gangContext } = this.#assignment.job;
    return gang === null || gangContext === undefined ? null : { ...gang, ...gangContext };
  }

  get #runContext(): RunContext {
    return this.#assignment.job.runContext ?? NO_CONTEXT;
  }

  log(line: string): void {
    const data = Buffer.from(`${line}\n`);
    if (this.#waiting + data.length > MAX_WAITING_BYTES) return;
    this.#waiting += data.length;
    this.stream ??= this.#output.open(this.#assignment, (bytes) => {
      this.#waiting -= bytes;
    });
    this.stream.push(data);
  }
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
      disarm();
      resolve(outcome);
    };
    // Before the timer is set, which a `then` that throws would leave behind.
    const ended = returned.then(
      (value) => end(stopped?.type === 'timed_out' ? stopped : succeed(value)),
      (error: unknown) => end(stopped ?? outcomeOfError(error, assignment)),
    );
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

function outcomeOfStop({ stopped }: Assignment): Outcome {
  if (stopped === 'cancelled') return { type: 'cancelled', error: null };
  const error = stopped === 'cut_off' ? 'the worker lost contact with the scheduler' : 'the worker was stopped';
  return { type: 'interrupted', error };
}

function succeed(value: unknown): Outcome {
  const outcome: Outcome = { type: 'succeeded', exitCode: null };
  if (value === undefined) return outcome;
  if (value === null || typeof value === 'boolean') return { ...outcome, result: value };
  try {
    const text = JSON.stringify(value) as string | undefined;
    if (text === undefined) return outcome;
    if (Buffer.byteLength(text) > MAX_RESULT_BYTES) return failed('the result is larger than 1 MiB');
    return { ...outcome, result: cleanJson(JSON.parse(text)) };
  } catch (error) {
    return failed(`the result is not JSON: ${textOfThrown(error)}`);
  }
}

function outcomeOfError(error: unknown, assignment: Assignment): Outcome {
  if (assignment.stopped !== null) return outcomeOfStop(assignment);
  const outcome = { ...failed(textOfThrown(error)), ...thrownOf(error) };
  try {
    if (error instanceof Snooze) return snoozed(error);
    if (error instanceof Cancel) return { type: 'cancelled', error: cleanText(error.message) };
    if (error instanceof Fatal) return { ...outcome, fatal: true };
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

function failed(error: string): Extract<Outcome, { type: 'failed' }> {
  return { type: 'failed', exitCode: null, signal: null, error };
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}

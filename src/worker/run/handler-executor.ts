/** Runs jobs as functions of this process. */

import { formatDuration } from '../../core/duration.ts';
import type { Gang, GangContext } from '../../core/gang.ts';
import { Stopped } from '../../core/handler-errors.ts';
import type { JobSpec, RunContext } from '../../core/job.ts';
import type { Outcome } from '../../core/outcome.ts';
import type { TickOfJob } from '../../core/schedule/tick.ts';
import { plainEnv } from '../../core/secret.ts';
import { contentOf, valueOf } from '../report/checkpoint-value.ts';
import { maskerOf } from '../report/mask-job.ts';
import type { OutputStream } from '../report/output-stream.ts';
import type { OutputWriter } from '../report/output-writer.ts';
import type { Reporter } from '../report/reporter.ts';
import { after } from '../time/timer.ts';
import type { Assignment } from './assignment.ts';
import { failed, outcomeOfError, outcomeOfStop, succeed } from './handler-outcome.ts';
import type { Executor } from './runner.ts';

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
  /** The step of a workflow that it is; `null` for other jobs. */
  readonly step: string | null;
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
  /** Masks the secrets of the job in a text. */
  mask(text: string): string;
  /** Resolves once the output and the progress so far are written, or given up; `undefined` if there was none. */
  flush(): Promise<unknown> | undefined;
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
    return this.#written((stream) => stream.end());
  }

  #written(written: (stream: OutputStream) => Promise<void>): Promise<unknown> | undefined {
    if (this.stream === undefined && !this.#hasProgress) return undefined;
    const output = this.stream === undefined ? undefined : written(this.stream);
    return Promise.all([output, this.#hasProgress ? this.#reporter.end(this.#assignment) : undefined]);
  }

  mask(text: string): string {
    return maskerOf(this.#assignment.job)(text);
  }

  flush(): Promise<unknown> | undefined {
    return this.#written((stream) => stream.flush());
  }

  get lease(): HandlerContext['lease'] {
    return this.#assignment;
  }

  progress(fraction: number, text?: string): void {
    this.#hasProgress = true;
    this.#reporter.progress(this.#assignment, { fraction, text: text ?? null });
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

  get step(): string | null {
    return this.#runContext.workflow?.step ?? null;
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
      // A stop that comes later must not start the grace period.
      stopped ??= outcome;
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

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}

/** The context of a running job. */

import { isWorkronError, WorkronError } from '../core/error.ts';
import { Fatal } from '../core/handler-errors.ts';
import type { HandlerContext } from '../worker/run/handler-context.ts';
import { type DurableCalls, DurableRun } from './durable.ts';
import type { Handle } from './handle.ts';
import type { JobType } from './job.ts';
import { toJson } from './json.ts';
import type { SubmitOptions } from './options.ts';
import { type RunGang, runGangOf } from './run-gang.ts';
import { type RunParent, runParentsOf } from './run-parent.ts';
import { type RunTick, runTickOf } from './run-tick.ts';
import type { StepName, StepOptions } from './step-values.ts';
import type { Submitter } from './submitter.ts';
import type { Transaction } from './transaction.ts';

/** The input is optional if the job takes none. */
export type SubmitArguments<Input, Options> = undefined extends Input
  ? [input?: Input, options?: Options]
  : [input: Input, options?: Options];

export interface ChildOptions extends Omit<SubmitOptions, 'idempotencyKey' | 'tx'> {
  /** Identifies this child among its siblings instead of its content: a retried parent finds it by its key. */
  key?: string | undefined;
}

/** The context of a running job. Its functions can be destructured: `({ log, signal }) => …`. */
export interface JobContext extends DurableCalls {
  readonly id: string;
  /** The number of this attempt. The first is 1. */
  readonly attempt: number;
  readonly queue: string;
  /** Aborts when the attempt should end. Its reason is a `Stopped`: timeout, cancelled, shutdown or lost. */
  readonly signal: AbortSignal;
  /** The variables that the job was submitted with. */
  readonly env: Readonly<Record<string, string>>;
  /** The parameters of its workflow; empty if it has none. */
  readonly params: Readonly<Record<string, unknown>>;
  /** The item of a `for_each` step and its index in the list; `null` for other jobs. */
  readonly item: { readonly value: unknown; readonly index: number } | null;
  /** The statuses and results of its parents. */
  readonly parents: readonly RunParent[];
  /** The tick of the schedule that started it; `null` if it was submitted. */
  readonly tick: RunTick | null;
  /** The gang that it is a member of, with its rank and the hosts of all members; `null` for other jobs. */
  readonly gang: RunGang | null;
  /** Adds a line to the attempt's output. */
  readonly log: (line: string) => void;
  /** Reports progress from 0 to 1, with an optional text. Both are shown live on the job. */
  readonly progress: (fraction: number, text?: string) => void;
  /** Saves a value that the next attempt can resume from (JSON of at most 1 MiB, or a `Uint8Array` of at most 64 MiB). Resolves once it is on disk. */
  readonly checkpoint: (value: unknown) => Promise<void>;
  /** Returns the last checkpoint, of this attempt or an earlier one; `null` if there is none. */
  readonly lastCheckpoint: <Value = unknown>() => Promise<Value | null>;
  /**
   * Ends the job as done inside a transaction of the application: its writes and the job's success commit together, or
   * neither does. The function must then return the same `result`, after the commit: if it returns although the
   * transaction did not commit, the attempt has failed. Rejects with `lease_lost` if the attempt is over.
   */
  readonly complete: (tx: Transaction, result?: unknown) => Promise<void>;
  /** Submits another job. A retried parent does not submit it again: the same content, or the same `key`, is the same child. */
  readonly submit: <Input, Result>(
    job: JobType<Input, Result>,
    ...rest: SubmitArguments<NoInfer<Input>, ChildOptions>
  ) => Promise<Handle<Result>>;
}

function leaseOf({ lease: { jobId, attempt, workerId } }: HandlerContext) {
  return { jobId, attempt, workerId, exitCode: null };
}

/** A result that is not JSON would not be so in the next attempt either. */
function resultOf(result: unknown): unknown {
  try {
    return toJson(result, 'the result');
  } catch (error) {
    throw isWorkronError(error) ? new Fatal(error.message, { cause: error }) : error;
  }
}

/** The default of `retentionFailed`: a failed parent can be retried for this long. */
const CHILD_KEY = '30d';

/** @internal One is created for every job, so properties are created on demand. */
export class Context implements JobContext {
  readonly #inner: HandlerContext;
  readonly #submitter: Submitter;
  #children: Map<string, number> | undefined;
  #durable: DurableRun | undefined;
  #hasCheckpoint = false;

  constructor(inner: HandlerContext, submitter: Submitter) {
    this.#inner = inner;
    this.#submitter = submitter;
  }

  get id(): string {
    return String(this.#inner.jobId);
  }

  get attempt(): number {
    return this.#inner.attempt;
  }

  get queue(): string {
    return this.#inner.queue;
  }

  get signal(): AbortSignal {
    return this.#inner.signal;
  }

  get env(): Readonly<Record<string, string>> {
    return this.#inner.env;
  }

  get params(): JobContext['params'] {
    return this.#inner.params;
  }

  get item(): JobContext['item'] {
    return this.#inner.item;
  }

  get parents(): readonly RunParent[] {
    return runParentsOf(this.#inner.parents);
  }

  get tick(): RunTick | null {
    return runTickOf(this.#inner.tick);
  }

  get gang(): RunGang | null {
    return runGangOf(this.#inner.gang);
  }

  get log(): JobContext['log'] {
    return (line) => this.#inner.log(line);
  }

  get progress(): JobContext['progress'] {
    return (fraction, text) => this.#inner.progress(fraction, text);
  }

  get checkpoint(): JobContext['checkpoint'] {
    return async (value) => {
      this.#refuseSteps('checkpoints');
      this.#hasCheckpoint = true;
      await this.#inner.checkpoint(value instanceof Uint8Array ? value : toJson(value, 'a checkpoint'));
    };
  }

  get lastCheckpoint(): JobContext['lastCheckpoint'] {
    return async <Value>() => (await this.#inner.lastCheckpoint()) as Value | null;
  }

  get complete(): JobContext['complete'] {
    return async (tx, result) => {
      this.#refuseSteps('complete');
      const success = { ...leaseOf(this.#inner), result: resultOf(result) };
      await this.#submitter.complete(tx, success, () => this.#inner.flush());
    };
  }

  get submit(): JobContext['submit'] {
    return async <Input, Result>(type: JobType<Input, Result>, ...rest: SubmitArguments<Input, ChildOptions>) => {
      const submit = () => this.#submit(type, rest[0], rest[1]);
      return (await (this.#durable === undefined ? submit() : this.#durable.during(submit))) as Handle<Result>;
    };
  }

  get step(): JobContext['step'] {
    return ((name: StepName, body: () => unknown, options?: StepOptions) =>
      this.#steps((run) => run.step(name, body, options))) as JobContext['step'];
  }

  get sleep(): JobContext['sleep'] {
    return (name, until) => this.#steps((run) => run.sleep(name, until));
  }

  /** Most jobs have none. */
  async #steps<T>(call: (run: DurableRun) => Promise<T>): Promise<T> {
    if (this.#hasCheckpoint) throw new Fatal('a function with checkpoints cannot have steps', { code: 'step_refused' });
    this.#durable ??= new DurableRun(this.#inner);
    return await call(this.#durable);
  }

  #refuseSteps(what: string): void {
    if (this.#durable === undefined && this.#inner.steps.steps.length === 0) return;
    throw new Fatal(`${what}: not possible in a function with steps`, { code: 'step_refused' });
  }

  async #submit(type: JobType, input: unknown, options: ChildOptions | undefined): Promise<Handle> {
    const { key, ...wanted } = options ?? {};
    const [handle] = await this.#submitter.jobs(type, [input], {
      ...wanted,
      ...(key === undefined ? await this.#byContent(type, input, wanted) : this.#byKey(key, wanted)),
    });
    return handle as Handle;
  }

  /** Siblings with the same content are numbered. */
  async #byContent(type: JobType, input: unknown, options: ChildOptions): Promise<SubmitOptions> {
    const content = await this.#submitter.contentOf(type, input, options);
    this.#children ??= new Map();
    const place = (this.#children.get(content) ?? 0) + 1;
    this.#children.set(content, place);
    return { idempotencyKey: `child:${this.id}:${content}:${place}` };
  }

  #byKey(key: string, { unique }: ChildOptions): SubmitOptions {
    if (unique !== undefined)
      throw new WorkronError('bad_request', 'key: expected either key or unique for a child, got both');
    return { unique: { key: `child:${this.id}:${key}`, while: CHILD_KEY, onConflict: 'existing' } };
  }
}

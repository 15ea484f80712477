/** What a handler can do, and know, while it runs. */

import type { Clock, Random } from '../../core/clock.ts';
import type { Step, StepsPage } from '../../core/durable.ts';
import type { Gang, GangContext } from '../../core/gang.ts';
import type { JobSpec, RunContext } from '../../core/job.ts';
import type { Outcome } from '../../core/outcome.ts';
import type { TickOfJob } from '../../core/schedule/tick.ts';
import { plainEnv } from '../../core/secret.ts';
import type { Log } from '../../ops/log.ts';
import type { JobSource } from '../job-source.ts';
import { contentOf, valueOf } from '../report/checkpoint-value.ts';
import { maskerOf } from '../report/mask-job.ts';
import type { OutputStream } from '../report/output-stream.ts';
import type { OutputWriter } from '../report/output-writer.ts';
import type { Reporter } from '../report/reporter.ts';
import { type StepDraft, StepWriter } from '../report/step-writer.ts';
import type { Assignment } from './assignment.ts';

/** A handler cannot be made to wait, so lines beyond this number of unwritten bytes are dropped. */
const MAX_WAITING_BYTES = 1024 * 1024;

export interface HandlerReports {
  output: OutputWriter;
  reporter: Reporter;
  source: JobSource;
  clock: Clock;
  random: Random;
  log: Log;
  /** Default: a second. */
  suspendAfterMs?: number;
  /** Called when a step is on disk. The attempt may end there, as a test wants it. */
  onStep?: (step: Step) => Outcome | undefined;
}

/** A shorter wait is not worth an attempt. */
const SUSPEND_AFTER_MS = 1_000;

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
  /** The steps of its function, as many as the claim has brought. */
  readonly steps: StepsPage;
  /** Why its function may have no steps; `null` if it may. */
  readonly whyNoSteps: string | null;
  /** The time of the scheduler. */
  now(): number;
  /** A wait that takes longer than this gives the slot back. */
  readonly suspendAfterMs: number;
  /** Writes a step. Resolves once it is on disk; rejects if it is refused, or the attempt is no longer this worker's. */
  writeStep(write: StepDraft): Promise<Step>;
  /** More steps than the claim has brought. */
  readSteps(after: number): Promise<StepsPage>;
  /** Tells which names the function did not ask for. */
  noteUnused(names: readonly string[]): Promise<void>;
  /** Called before the function uses its first step: it is asked when the function has returned or thrown. */
  keepDurable(durable: Durable): void;
  /** Ends the attempt: its function waits for these steps. What it does from now on is ignored. */
  suspend(awaits: readonly string[]): void;
  /** Identifies the attempt to the scheduler. */
  readonly lease: { jobId: number; attempt: number; workerId: number };
}

/** The steps of a function that runs. */
export interface Durable {
  /** The function has returned. Resolves with an error if it may not have, once what is known of its steps is reported. */
  returned(): Promise<Error | undefined>;
  /** The function has thrown. Returns an error if it may not have thrown that. */
  threw(error: unknown): unknown;
}

const NO_STEPS: StepsPage = { steps: [], next: null };
const NO_CONTEXT: RunContext = { workflow: null, params: {}, item: null, parents: [] };

/** Creates a signal or a stream only for handlers that use one. */
export class Context implements HandlerContext {
  readonly #assignment: Assignment;
  readonly #reports: HandlerReports;
  #hasProgress = false;
  stream: OutputStream | undefined;
  #waiting = 0;

  durable: Durable | undefined;
  /** Set while the function runs. */
  onSuspend: ((outcome: Outcome) => void) | undefined;

  constructor(assignment: Assignment, reports: HandlerReports) {
    this.#assignment = assignment;
    this.#reports = reports;
  }

  get steps(): StepsPage {
    return this.#assignment.job.steps ?? NO_STEPS;
  }

  get whyNoSteps(): string | null {
    const { gang, rerun } = this.#assignment.job;
    if (gang !== null) return 'it is a member of a gang';
    return rerun === 'never' ? 'it has rerun: never' : null;
  }

  now(): number {
    return this.#assignment.storeNow(performance.now());
  }

  get suspendAfterMs(): number {
    return this.#reports.suspendAfterMs ?? SUSPEND_AFTER_MS;
  }

  get #steps(): StepWriter {
    return new StepWriter(this.#reports);
  }

  async writeStep(write: StepDraft): Promise<Step> {
    const step = await this.#steps.write(this.#assignment, write);
    const end = this.#reports.onStep?.(step);
    if (end === undefined) return step;
    this.onSuspend?.(end);
    return await new Promise<never>(() => undefined);
  }

  readSteps(after: number): Promise<StepsPage> {
    return this.#steps.read(this.#assignment, after);
  }

  noteUnused(names: readonly string[]): Promise<void> {
    return this.#steps.noteUnused(this.#assignment, names);
  }

  keepDurable(durable: Durable): void {
    this.durable = durable;
  }

  suspend(awaits: readonly string[]): void {
    this.#assignment.suspended = true;
    this.onSuspend?.({ type: 'suspended', awaits });
  }

  /** Resolves once all output and progress is written; `undefined` if there was none. */
  end(): Promise<unknown> | undefined {
    return this.#written((stream) => stream.end());
  }

  #written(written: (stream: OutputStream) => Promise<void>): Promise<unknown> | undefined {
    if (this.stream === undefined && !this.#hasProgress) return undefined;
    const output = this.stream === undefined ? undefined : written(this.stream);
    return Promise.all([output, this.#hasProgress ? this.#reports.reporter.end(this.#assignment) : undefined]);
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
    this.#reports.reporter.progress(this.#assignment, { fraction, text: text ?? null });
  }

  checkpoint(value: unknown): Promise<void> {
    return this.#reports.reporter.checkpoint(this.#assignment, contentOf(value));
  }

  async lastCheckpoint(): Promise<unknown> {
    const content = await this.#reports.reporter.lastCheckpoint(this.#assignment, this.signal);
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
    this.stream ??= this.#reports.output.open(this.#assignment, (bytes) => {
      this.#waiting -= bytes;
    });
    this.stream.push(data);
  }
}

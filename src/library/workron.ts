/** An application's Workron: submits jobs, and runs them where it was started. */

import type { Attempt, Job, JobDetail } from '../api/job.ts';
import type { Schedule } from '../api/schedule.ts';
import { WorkronError } from '../core/error.ts';
import { NEVER } from '../core/never.ts';
import { WEBHOOK_HANDLER } from '../core/notify.ts';
import type { Mounted, MountOptions } from '../http/mount.ts';
import { systemClock } from '../ops/clock.ts';
import type { Log } from '../ops/log.ts';
import type { Handler } from '../worker/run/handler-executor.ts';
import { Worker } from '../worker/worker.ts';
import type { Backend } from './backend.ts';
import type { SubmitArguments } from './context.ts';
import { type Handle, msOf } from './handle.ts';
import { handlersOf } from './handlers.ts';
import { newInstanceId } from './instance-id.ts';
import type { JobType, RunnableJob } from './job.ts';
import type { Middleware } from './middleware.ts';
import type { Duration, SubmitOptions } from './options.ts';
import type { AnySchedule, CommandSchedule, JobSchedule, ScheduleHandle } from './schedule.ts';
import { Submitter } from './submitter.ts';

export interface StartOptions {
  /** What this process runs; without any, and without `commands`, it only has the scheduler's duties. */
  jobs?: readonly RunnableJob[];
  /** How many at once; 10. */
  concurrency?: number;
  /** Only jobs of these queues. */
  queues?: readonly string[];
  /** Shell commands too. */
  commands?: boolean;
  /** What it has that jobs may require. */
  tags?: readonly string[];
  resources?: Readonly<Record<string, number>>;
  /** For people; host and pid unless told otherwise. */
  name?: string;
  /** Leave promoting, reaping and pruning to other processes. */
  duties?: boolean;
}

export interface StopOptions {
  /** After so long, what still runs is stopped and goes back to be run elsewhere. Without it, it may take as long as its timeout allows. */
  timeout?: Duration;
}

export interface WorkronParts {
  home: Backend;
  log: Log;
  middleware: readonly Middleware[];
  /** Delivers messages of `notify`. */
  webhooks: Handler;
}

interface Running {
  worker: Worker | null;
  ended: Promise<unknown>;
  duties: AbortController;
}

export class Workron implements AsyncDisposable {
  readonly #home: Backend;
  readonly #log: Log;
  readonly #webhooks: Handler;
  readonly #submitter: Submitter;
  #running: Running | undefined;
  #stopped: Promise<void> | undefined;

  constructor({ home, log, middleware, webhooks }: WorkronParts) {
    this.#home = home;
    this.#log = log;
    this.#webhooks = webhooks;
    this.#submitter = new Submitter({ engine: home.engine, middleware });
  }

  /** Resolves once the job is on disk. */
  async submit<Input, Result>(
    job: JobType<Input, Result>,
    ...[input, options]: SubmitArguments<NoInfer<Input>, SubmitOptions>
  ): Promise<Handle<Result>> {
    const [handle] = await this.#submitter.jobs(job, [input], options);
    return handle as Handle<Result>;
  }

  /** One job for each input: all of them or none, in order. */
  async submitAll<Input, Result>(
    job: JobType<Input, Result>,
    inputs: readonly NoInfer<Input>[],
    options?: SubmitOptions,
  ): Promise<Handle<Result>[]> {
    return (await this.#submitter.jobs(job, inputs, options)) as Handle<Result>[];
  }

  /** A shell line, for workers that run commands. */
  submitCommand(line: string, options?: SubmitOptions): Promise<Handle> {
    return this.#submitter.command(line, options);
  }

  /** The handle of a job that was submitted earlier, or elsewhere. */
  handle<Result = unknown>(id: string): Handle<Result> {
    return this.#submitter.handle({ id, deduplicated: false });
  }

  /** The job as it is now, with what it waits for. */
  job(id: string): Promise<JobDetail> {
    return this.#home.engine.job(id, NEVER);
  }

  /** Its ended attempts, oldest first. */
  attempts(id: string): Promise<Attempt[]> {
    return this.#home.engine.attempts(id, NEVER);
  }

  cancel(id: string): Promise<Job> {
    return this.#home.engine.cancel(id, NEVER);
  }

  retry(id: string): Promise<Job> {
    return this.#home.engine.retry(id, NEVER);
  }

  /**
   * Runs a job, or a shell line, whenever it is due. Resolves once the schedule is what is said here: made, changed, or left
   * alone where it is so already, so that a program may say it each time it starts. One that is paused stays so.
   */
  schedule<Input, Result>(name: string, schedule: JobSchedule<Input, Result>): Promise<ScheduleHandle<Result>>;
  schedule(name: string, schedule: CommandSchedule): Promise<ScheduleHandle>;
  schedule(name: string, schedule: object): Promise<ScheduleHandle<never>> {
    return this.#submitter.schedule(name, schedule as AnySchedule) as Promise<ScheduleHandle<never>>;
  }

  /** All there are, by name. */
  schedules(): Promise<Schedule[]> {
    return this.#home.engine.schedules.list(NEVER);
  }

  /** The handle of a schedule that was made earlier, or elsewhere. */
  scheduleHandle<Result = unknown>(name: string): ScheduleHandle<Result> {
    return this.#submitter.scheduleHandle(name) as ScheduleHandle<Result>;
  }

  /** The HTTP API for a server of the application's own, which decides who may reach it. */
  mount(options: MountOptions = {}): Promise<Mounted> {
    return this.#home.mount(options);
  }

  /** Runs jobs in this process from now on. Resolves once its worker is known to the scheduler. */
  async start(options: StartOptions = {}): Promise<void> {
    if (this.#stopped !== undefined) throw new WorkronError('shutting_down', 'Workron was stopped');
    if (this.#running !== undefined) throw new WorkronError('bad_request', 'Workron has been started already');
    const duties = new AbortController();
    const worker = this.#worker(options);
    const ran = worker === undefined ? undefined : run(worker);
    const known = worker === undefined ? undefined : Promise.race([worker.worker.registered, ran]);
    const loops = (options.duties ?? true) ? this.#runDuties(known, duties.signal) : undefined;
    this.#running = { worker: worker?.worker ?? null, ended: Promise.all([ran, loops]), duties };
    this.#running.ended.catch((error: unknown) => this.#log.error({ error }, 'the worker ended'));
    await known;
  }

  /** No new work; what runs ends; then everything is closed. Twice is fine. */
  stop(options: StopOptions = {}): Promise<void> {
    this.#stopped ??= this.#stop(options);
    return this.#stopped;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #stop({ timeout }: StopOptions): Promise<void> {
    const running = this.#running;
    if (running !== undefined) {
      const { worker, duties, ended } = running;
      const cut = timeout === undefined ? undefined : setTimeout(() => void worker?.stop(), msOf(timeout));
      await worker?.drain();
      clearTimeout(cut);
      duties.abort();
      await ended.catch(() => undefined);
    }
    this.#home.drain();
    await this.#home.close();
  }

  /** After the worker is known: the duties' first rounds would make its first claim wait. */
  async #runDuties(known: Promise<unknown> | undefined, signal: AbortSignal): Promise<void> {
    await known?.catch(() => undefined);
    if (!signal.aborted) await this.#home.runDuties(signal);
  }

  #worker(options: StartOptions) {
    const { jobs = [], commands = false, concurrency = 10, queues = null, tags = [], resources = {} } = options;
    if (jobs.length === 0 && !commands) return undefined;
    if (!Number.isInteger(concurrency) || concurrency < 1) {
      throw new WorkronError('bad_request', `concurrency: expected a whole number from 1, got ${concurrency}`);
    }
    const handlers = { [WEBHOOK_HANDLER]: this.#webhooks, ...handlersOf(jobs, this.#submitter) };
    const source = this.#home.source();
    const worker = new Worker({
      source,
      profile: {
        name: options.name ?? newInstanceId(),
        slots: concurrency,
        queues,
        commands,
        handlers: Object.keys(handlers),
        tags,
        resources,
      },
      clock: systemClock,
      random: Math.random,
      log: this.#log,
      handlers,
    });
    return { worker, source };
  }
}

async function run({ worker, source }: { worker: Worker; source: ReturnType<Backend['source']> }): Promise<void> {
  try {
    await worker.run();
  } finally {
    await source[Symbol.asyncDispose]?.();
  }
}

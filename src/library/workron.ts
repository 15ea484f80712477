/** The library's main object: submits jobs, and runs them once it is started. */

import { messageOf, WorkronError } from '../core/error.ts';
import type { Mounted, MountOptions } from '../http/mounted.ts';
import { isolationOf } from '../node/isolation.ts';
import { createWorker, drainWorker } from '../node/worker.ts';
import { isError } from '../ops/is-error.ts';
import type { Log } from '../ops/log.ts';
import { DEFAULT_ISOLATION, type Isolation } from '../worker/command/isolation.ts';
import type { Handler } from '../worker/run/handler-executor.ts';
import type { Worker } from '../worker/worker.ts';
import type { Backend } from './backend.ts';
import type { SubmitArguments } from './context.ts';
import type { ApiCalls } from './engine.ts';
import { type Handle, msOf } from './handle.ts';
import { handlersOf } from './handlers.ts';
import type { JobType, RunnableJob } from './job.ts';
import type { Attempt, Job, JobDetail, ScheduleDetail } from './messages.ts';
import type { OwnMiddleware } from './middleware.ts';
import type { Duration, SubmitOptions } from './options.ts';
import type { AnySchedule, CommandSchedule, JobSchedule, ScheduleHandle } from './schedule.ts';
import { durationOf } from './settings.ts';
import { Submitter } from './submitter.ts';

export interface StartOptions {
  /** The jobs that this process runs. Without any, and without `commands`, it only has the scheduler's duties. */
  jobs?: readonly RunnableJob[] | undefined;
  /** The number of jobs that run at the same time. Default: 10. */
  concurrency?: number | undefined;
  /** Runs only jobs of these queues. Default: all queues. */
  queues?: readonly string[] | undefined;
  /** Also runs shell commands. Default: `false`. */
  commands?: boolean | undefined;
  /** Tags of this worker. Jobs can require them. */
  tags?: readonly string[] | undefined;
  /**
   * The worker's capacity, such as `{ gpu: 1 }`. Running jobs take what they ask for. `cpu` and `memory_mb` are those of the
   * machine unless they are given.
   */
  resources?: Readonly<Record<string, number>> | undefined;
  /** The worker's name as people see it. Default: host and pid. */
  name?: string | undefined;
  /** With `false`, other processes do the scheduler's duties, such as promoting, reaping and pruning. Default: `true`. */
  duties?: boolean | undefined;
  /** The default of `stop`'s `timeout`; `off`: no limit. Default: `off`. */
  drainTimeout?: Duration | undefined;
  /** `auto`: commands run in a PID namespace if the machine allows it. Default: `auto`. */
  pidNamespace?: 'auto' | 'off' | undefined;
  /**
   * The user that commands run as, without a way to gain other rights. Only a process of root can do that. Handlers run in this
   * process, as its user. Default: the user of this process.
   */
  runAs?: string | undefined;
}

export interface StopOptions {
  /** Jobs that still run after this time are stopped and given back, to be run elsewhere. Default: `drainTimeout` of `start`. */
  timeout?: Duration | undefined;
}

interface WorkronParts {
  backend: Backend;
  log: Log;
  middleware: readonly OwnMiddleware[];
  /** Delivers webhooks. */
  webhooks: Handler;
  onError?: ((error: Error) => void) | undefined;
}

interface Running {
  worker: Worker | null;
  /** Resolves once worker and duties have ended. */
  ended: Promise<unknown>;
  duties: AbortController;
  drainTimeoutMs: number | null;
}

export class Workron implements AsyncDisposable {
  /**
   * Every operation of the API, in camelCase: workflows, definitions, bulk actions, logs, events, queues, limits, workers, statistics,
   * the audit, secrets. Lists are iterated over to their end, or awaited for one page.
   */
  readonly api: ApiCalls;
  readonly #backend: Backend;
  readonly #log: Log;
  readonly #webhooks: Handler;
  readonly #onError: WorkronParts['onError'];
  readonly #problems: string[] = [];
  readonly #submitter: Submitter;
  #running: Running | undefined;
  #stopped: Promise<void> | undefined;
  #closed = false;

  /** @internal Not declared: `open` makes one. */
  constructor({ backend, log, middleware, webhooks, onError }: WorkronParts) {
    this.#backend = backend;
    this.api = backend.engine.api;
    this.#log = log;
    this.#webhooks = webhooks;
    this.#onError = onError;
    this.#submitter = new Submitter({ engine: backend.engine, middleware });
  }

  /** Submits a job. Resolves once it is on disk. */
  async submit<Input, Result>(
    job: JobType<Input, Result>,
    ...[input, options]: SubmitArguments<NoInfer<Input>, SubmitOptions>
  ): Promise<Handle<Result>> {
    this.#requireOpen();
    const [handle] = await this.#submitter.jobs(job, [input], options);
    return handle as Handle<Result>;
  }

  /** Submits one job per input, in order: all of them or none. */
  async submitAll<Input, Result>(
    job: JobType<Input, Result>,
    inputs: readonly NoInfer<Input>[],
    options?: SubmitOptions,
  ): Promise<Handle<Result>[]> {
    this.#requireOpen();
    return (await this.#submitter.jobs(job, inputs, options)) as Handle<Result>[];
  }

  /** Submits a shell command, for workers that run commands. */
  async submitCommand(line: string, options?: SubmitOptions): Promise<Handle> {
    this.#requireOpen();
    return await this.#submitter.command(line, options);
  }

  /** Returns the handle of a job that was submitted before, here or by another process. */
  handle<Result = unknown>(id: string): Handle<Result> {
    return this.#submitter.handle({ id, deduplicated: false });
  }

  /** Returns the job as it is now, with the reason why it waits. */
  job(id: string): Promise<JobDetail> {
    return this.api.readJob(id);
  }

  /** Returns its ended attempts, oldest first. */
  async attempts(id: string): Promise<Attempt[]> {
    return (await this.api.listAttempts(id)).items;
  }

  cancel(id: string): Promise<Job> {
    return this.api.cancelJob(id);
  }

  retry(id: string): Promise<Job> {
    return this.api.retryJob(id);
  }

  /**
   * Declares a schedule for a job or a shell command. Creates it, changes it if it differs, and leaves it alone if it
   * matches, so a program can declare its schedules at every start. A paused schedule stays paused.
   */
  schedule<Input, Result>(name: string, schedule: JobSchedule<Input, Result>): Promise<ScheduleHandle<Result>>;
  schedule(name: string, schedule: CommandSchedule): Promise<ScheduleHandle>;
  schedule(name: string, schedule: object): Promise<ScheduleHandle<never>> {
    return this.#submitter.schedule(name, schedule as AnySchedule) as Promise<ScheduleHandle<never>>;
  }

  /** Returns all schedules, ordered by name. */
  schedules(): Promise<ScheduleDetail[]> {
    return Array.fromAsync(this.api.listSchedules({ limit: 200 }));
  }

  /** Returns the handle of a schedule that was declared before, here or by another process. */
  scheduleHandle<Result = unknown>(name: string): ScheduleHandle<Result> {
    return this.#submitter.scheduleHandle(name) as ScheduleHandle<Result>;
  }

  /** Returns the HTTP API for a server of the application, which must decide who may use it. */
  mount(options: MountOptions = {}): Promise<Mounted> {
    return this.#backend.mount(options);
  }

  /** Starts to run jobs in this process. Resolves once its worker is registered. */
  async start(options: StartOptions = {}): Promise<void> {
    // Before the checks: nothing may be awaited between them and the start.
    const isolation = await isolationFor(options);
    if (this.#stopped !== undefined) throw new WorkronError('shutting_down', 'Workron was stopped');
    if (this.#running !== undefined)
      throw new WorkronError('bad_request', 'start() was called before; a Workron can be started once');
    const duties = new AbortController();
    const drainTimeoutMs = durationOf('drainTimeout', options.drainTimeout);
    const worker = this.#worker(options, isolation);
    const ran = worker === undefined ? undefined : run(worker);
    const known = worker === undefined ? undefined : Promise.race([worker.worker.registered, ran]);
    const loops = (options.duties ?? true) ? this.#runDuties(known, duties.signal) : undefined;
    this.#running = { worker: worker?.worker ?? null, ended: Promise.allSettled([ran, loops]), duties, drainTimeoutMs };
    ran?.catch((error: unknown) => this.#died('the worker', error));
    loops?.catch((error: unknown) => this.#died('the duties', error));
    await known;
  }

  /** Whether all parts of this process work. `problems` says which do not. */
  health(): { healthy: boolean; problems: string[] } {
    const problems = [...this.#problems, ...this.#backend.stuck().map((loop) => `${loop}: no round for too long`)];
    return { healthy: problems.length === 0, problems };
  }

  /** Takes no new jobs, waits for running jobs to end, and closes everything. Later calls return the same promise. */
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
      const { worker, duties, ended, drainTimeoutMs } = running;
      if (worker !== null) await drainWorker(worker, timeout === undefined ? drainTimeoutMs : msOf(timeout));
      duties.abort();
      await ended;
    }
    this.#backend.drain();
    this.#closed = true;
    await this.#backend.close();
  }

  /** While it stops, running jobs may still submit. */
  #requireOpen(): void {
    if (this.#closed) throw new WorkronError('shutting_down', 'Workron was stopped');
  }

  #died(what: string, error: unknown): void {
    this.#problems.push(`${what} died: ${messageOf(error)}`);
    this.#log.error({ error }, `${what} of this process died`);
    this.#onError?.(isError(error) ? error : new Error(messageOf(error)));
  }

  /** Duties begin after the worker is registered: their first rounds would delay its first claim. */
  async #runDuties(known: Promise<unknown> | undefined, signal: AbortSignal): Promise<void> {
    await known?.catch(() => undefined);
    if (!signal.aborted) await this.#backend.runDuties(signal);
  }

  #worker(options: StartOptions, isolation: Isolation) {
    const { jobs = [], commands = false, concurrency = 10, queues = null, tags = [], resources = {} } = options;
    const { name = null } = options;
    if (jobs.length === 0 && !commands) return undefined;
    if (!Number.isInteger(concurrency) || concurrency < 1) {
      throw new WorkronError('bad_request', `concurrency: expected a whole number from 1, got ${concurrency}`);
    }
    const handlers = handlersOf(jobs, this.#submitter);
    const source = this.#backend.source();
    const worker = createWorker({
      source,
      log: this.#log,
      name,
      slots: concurrency,
      queues,
      commands,
      tags,
      resources,
      isolation,
      staysDrained: true,
      handlers,
      webhooks: this.#webhooks,
      metrics: this.#backend.metrics,
    });
    return { worker, source };
  }
}

async function isolationFor({ pidNamespace = 'auto', runAs }: StartOptions): Promise<Isolation> {
  if (runAs === undefined) return { ...DEFAULT_ISOLATION, pidNamespace };
  const limits = { commandOpenFiles: null, commandCpuTimeMs: null };
  try {
    return await isolationOf({ pidNamespace, runAs, commandNewPrivileges: 'auto', ...limits });
  } catch (error) {
    throw new WorkronError('bad_request', messageOf(error).replace(/^run-as:/, 'runAs:'), { cause: error });
  }
}

async function run({ worker, source }: { worker: Worker; source: ReturnType<Backend['source']> }): Promise<void> {
  try {
    await worker.run();
  } finally {
    await source[Symbol.asyncDispose]?.();
  }
}

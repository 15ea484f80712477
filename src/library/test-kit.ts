/** A Workron for tests: jobs run only when the test calls for them, and the test can advance the clock. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Job } from '../api/job.ts';
import { jobToWire } from '../api/job-wire.ts';
import type { Clock } from '../core/clock.ts';
import type { Step } from '../core/durable.ts';
import { WorkronError } from '../core/error.ts';
import type { JobFilter } from '../core/job-filter.ts';
import { NEVER } from '../core/never.ts';
import { NODE_DEFAULTS, openNode } from '../node/node.ts';
import { openStore } from '../node/open-store.ts';
import { systemClock } from '../ops/clock.ts';
import { KeyRing } from '../ops/key-ring.ts';
import { silentLog } from '../ops/log.ts';
import { monotonicMs } from '../ops/monotonic.ts';
import type { JobPage } from '../scheduler/jobs/jobs.ts';
import type { JobSource } from '../worker/job-source.ts';
import { Lease } from '../worker/lease/lease.ts';
import { OutputWriter } from '../worker/report/output-writer.ts';
import { Reporter } from '../worker/report/reporter.ts';
import { Assignment } from '../worker/run/assignment.ts';
import { handlerExecutor } from '../worker/run/handler-executor.ts';
import type { Executor } from '../worker/run/runner.ts';
import { type CrashingRun, crashEverywhere } from './crash-everywhere.ts';
import { msOf } from './handle.ts';
import { handlersOf } from './handlers.ts';
import { refuseInThread } from './isolated-protocol.ts';
import type { JobType, RunnableJob } from './job.ts';
import type { OpenOptions } from './open.ts';
import { storeSettings } from './open-workron.ts';
import type { Duration } from './options.ts';
import { type StoreBackend, storeBackend } from './store-backend.ts';
import { Submitter } from './submitter.ts';
import { Workron } from './workron.ts';

export interface TestKitOptions extends Pick<OpenOptions, 'schema' | 'middleware'> {
  /** The jobs that the test runs. */
  jobs: readonly RunnableJob[];
  /** Jobs that another program runs: the test may submit them, and the kit leaves them alone. */
  elsewhere?: readonly JobType[] | undefined;
  /** The store; SQLite and PostgreSQL behave the same as memory. Default: `memory:`. */
  url?: string | undefined;
  /** The time at which the test begins, such as `2026-03-28T12:00:00Z`. Default: the time of the machine. */
  now?: Date | string | undefined;
}

/** Ends a chain of jobs that submit each other forever. */
const MAX_RUNS = 10_000;

/** The limit of timers. */
const MAX_SLEEP_MS = 2 ** 31 - 1;

/** Seals what an application seals with its own. The same for all tests, as a test may open the database of an earlier one. */
const KEY = KeyRing.parse(Buffer.alloc(32).toString('base64'));

/** Webhooks are not sent. */
const handlesNothing = () => undefined;

/** The clock of this process plus an offset. */
class MovedClock implements Clock {
  offsetMs = 0;

  now(): number {
    return systemClock.now() + this.offsetMs;
  }

  monotonicMs(): number {
    return systemClock.monotonicMs();
  }

  /** Does not keep the process alive: a test may end, or fail, without disposing of its kit. */
  async sleep(ms: number, signal: AbortSignal): Promise<void> {
    await sleep(Math.min(Math.max(ms, 0), MAX_SLEEP_MS), undefined, { signal, ref: false }).catch(() => undefined);
  }
}

export async function openTestKit({ url = 'memory:', ...options }: TestKitOptions): Promise<TestKit> {
  refuseInThread();
  const clock = new MovedClock();
  const store = await openStore(storeSettings(url, options), {
    log: silentLog,
    migrate: true,
    keepsAlive: false,
    clock,
  });
  const move = async (ms: number) => {
    if (store.driver === 'postgres') await moveDatabase(url, options.schema ?? 'workron', ms);
    else clock.offsetMs += ms;
  };
  if (options.now !== undefined) await move(instantOf('now', options.now) - (await store.now(NEVER)));
  const node = await openNode({ store, settings: NODE_DEFAULTS, log: silentLog, clock, secretKeys: KEY });
  const backend = storeBackend(node);
  const registered = await backend.source().register(
    {
      name: 'test',
      slots: 1,
      queues: null,
      commands: false,
      handlers: options.jobs.map(({ name }) => name),
      tags: [],
      resources: {},
    },
    NEVER,
  );
  return new TestKit({ backend, workerId: registered.workerId, move, options });
}

function instantOf(option: string, value: Date | string): number {
  const ms = new Date(value).getTime();
  if (Number.isNaN(ms)) throw new WorkronError('bad_request', `${option}: expected a date, got ${String(value)}`);
  return ms;
}

/** PostgreSQL uses the clock of the server, so the offset is stored in the database. */
async function moveDatabase(url: string, schema: string, ms: number): Promise<void> {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`update "${schema}".meta set clock_offset_ms = clock_offset_ms + $1`, [ms]);
  } finally {
    await client.end();
  }
}

interface Parts {
  backend: StoreBackend;
  workerId: number;
  move: (ms: number) => Promise<void>;
  options: Omit<TestKitOptions, 'url'>;
}

export class TestKit implements AsyncDisposable {
  /** Submits and reads jobs. It is not started: `runNext` and `runAll` run the jobs. */
  readonly workron: Workron;
  readonly #backend: StoreBackend;
  readonly #workerId: number;
  readonly #source: JobSource;
  readonly #move: (ms: number) => Promise<void>;
  readonly #executor: Executor;
  readonly #handlers: readonly string[];
  readonly #elsewhere: ReadonlySet<string>;
  #claims = 0;
  #crashing: CrashingRun | undefined;

  /** @internal Not declared: `testKit` makes one. */
  constructor({ backend, workerId, move, options: { jobs, elsewhere = [], middleware = [] } }: Parts) {
    this.#backend = backend;
    this.#workerId = workerId;
    this.#move = move;
    this.#handlers = jobs.map(({ name }) => name);
    this.#elsewhere = new Set(elsewhere.map(({ name }) => name));
    this.workron = new Workron({ backend, log: silentLog, middleware, webhooks: handlesNothing });
    const source = backend.source();
    this.#source = source;
    const shared = { source, clock: systemClock, random: Math.random, monotonicMs, log: silentLog };
    const lease = new Lease(monotonicMs);
    lease.renew(monotonicMs(), Number.MAX_SAFE_INTEGER);
    const handlers = handlersOf(jobs, new Submitter({ engine: backend.engine, middleware }));
    const output = new OutputWriter({ ...shared, lease });
    const onStep = (step: Step) => this.#crashing?.onStep(step);
    const reports = { ...shared, output, reporter: new Reporter(source, silentLog), suspendAfterMs: 0, onStep };
    this.#executor = handlerExecutor(handlers, reports);
  }

  /**
   * Runs one attempt of the first job that is due. Returns the job after the attempt, or `null` if no job is due. Rejects if
   * only jobs are left that the kit has no handler for.
   */
  async runNext(): Promise<Job | null> {
    const { scheduler } = this.#backend.node;
    await this.#settleDown();
    this.#claims += 1;
    const offer = { queues: null, commands: false, handlers: this.#handlers, tags: [], free: {} };
    const request = { workerId: this.#workerId, limit: 1, offer, claimSeq: this.#claims, waitMs: 0, runsSteps: true };
    // The test may have moved the clock past the lease.
    await scheduler.heartbeat({ workerId: this.#workerId, leases: null, seenClaim: null }, NEVER);
    const [claimed] = await scheduler.claim(request, NEVER);
    if (claimed === undefined) {
      await this.#requireHandlers();
      return null;
    }
    const assignment = new Assignment(claimed, this.#workerId, performance.now());
    const outcome = await this.#executor.run(assignment);
    const { id: jobId, attempt } = claimed;
    await this.#source.settle([{ jobId, attempt, workerId: this.#workerId, outcome }], NEVER);
    assignment.released();
    await this.#settleDown();
    return jobToWire(await scheduler.job(jobId, NEVER));
  }

  /** Runs attempts until no job is due, including jobs that were submitted meanwhile. Returns each job after its attempt. */
  async runAll(): Promise<Job[]> {
    const ran: Job[] = [];
    for (;;) {
      const job = await this.runNext();
      if (job === null) return ran;
      ran.push(job);
      if (ran.length >= MAX_RUNS) throw new WorkronError('overloaded', `runAll ran ${MAX_RUNS} jobs and more are due`);
    }
  }

  /**
   * Runs a durable function to its end, and once more for each write of a step, with a crash after it. Returns the number of crashes.
   * Rejects if a finished step is done again, or the job ends differently. Sleeps take no time.
   */
  crashEverywhere<Input>(type: JobType<Input>, input: Input): Promise<number> {
    return crashEverywhere(async (run) => {
      const { id } = await this.workron.submit(type as JobType<unknown>, input);
      this.#crashing = run;
      try {
        for (;;) {
          const next = await this.runNext();
          const job = await this.workron.job(id);
          if (job.doneAt !== null) return job;
          if (next === null) await this.advanceTo(job.runAt);
        }
      } finally {
        this.#crashing = undefined;
      }
    });
  }

  /** Advances the clock: schedules tick, scheduled jobs and retries become due. Runs no job. */
  async advance(duration: Duration): Promise<void> {
    await this.#move(msOf(duration));
    await this.#settleDown();
  }

  /** Advances the clock to this instant, which must not be in the past. */
  async advanceTo(instant: Date | string): Promise<void> {
    const ms = instantOf('advanceTo', instant) - (await this.now()).getTime();
    if (ms < 0) {
      throw new WorkronError(
        'bad_request',
        `advanceTo: expected an instant from ${(await this.now()).toISOString()} on`,
      );
    }
    await this.#move(ms);
    await this.#settleDown();
  }

  /** Returns the time of the test. It goes on between the calls, as the machine's clock does. */
  async now(): Promise<Date> {
    return new Date(await this.#backend.node.store.now(NEVER));
  }

  /** Returns the inputs of all submitted jobs of this kind, oldest first. */
  async submitted<Input>(type: JobType<Input>): Promise<Input[]> {
    const { scheduler, context } = this.#backend.node;
    const inputs: Input[] = [];
    for await (const job of this.#jobs({})) {
      if (job.handler !== type.name) continue;
      const whole = job.sealInput || job.cut?.includes('input') ? await scheduler.job(job.id, NEVER) : job;
      const [opened] = await context.sealing.openJobs([whole], NEVER);
      inputs.push(opened?.input as Input);
    }
    return inputs.reverse();
  }

  /** The jobs that match, newest first. */
  async *#jobs(filter: JobFilter): AsyncGenerator<JobPage['items'][number]> {
    let before: number | null = null;
    do {
      const page: JobPage = await this.#backend.node.scheduler.jobs(filter, { before, limit: 1_000 }, NEVER);
      yield* page.items;
      before = page.nextBefore;
    } while (before !== null);
  }

  /** A job that nobody would ever run is most likely one that the test forgot. */
  async #requireHandlers(): Promise<void> {
    for await (const { id, handler } of this.#jobs({ statuses: ['pending'] })) {
      if (handler === null || this.#handlers.includes(handler) || this.#elsewhere.has(handler)) continue;
      const hint = 'add the job to jobs, or to elsewhere if another program runs it';
      const message = `job ${id} waits for the handler ${handler}, which the kit does not have: ${hint}`;
      throw new WorkronError('bad_request', message);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.workron.stop();
  }

  /** Does what the duties would do now. */
  async #settleDown(): Promise<void> {
    const { store } = this.#backend.node;
    await this.#backend.tickSchedules(NEVER);
    for (;;) {
      const { count } = await store.promote(1_000, NEVER);
      const adopted = await store.adopt(1_000, NEVER);
      const carried = await store.cascade(1_000, NEVER);
      const inserted = await store.expand(1_000, NEVER);
      if (count + adopted + carried + inserted === 0) return;
    }
  }
}

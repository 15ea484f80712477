/** A Workron for tests: nothing runs by itself, jobs run when the test says so, and time can be moved on. */

import type { Job } from '../api/job.ts';
import { jobToWire } from '../api/job-wire.ts';
import type { Clock } from '../core/clock.ts';
import { WorkronError } from '../core/error.ts';
import { NEVER } from '../core/never.ts';
import { NODE_DEFAULTS, openNode } from '../node/node.ts';
import { openStore } from '../node/open-store.ts';
import { systemClock } from '../ops/clock.ts';
import { silentLog } from '../ops/log.ts';
import { Lease } from '../worker/lease/lease.ts';
import { OutputWriter } from '../worker/report/output-writer.ts';
import { Reporter } from '../worker/report/reporter.ts';
import { Assignment } from '../worker/run/assignment.ts';
import { handlerExecutor } from '../worker/run/handler-executor.ts';
import type { Executor } from '../worker/run/runner.ts';
import { monotonicMs } from '../worker/time/monotonic.ts';
import { msOf } from './handle.ts';
import { handlersOf } from './handlers.ts';
import type { JobType, RunnableJob } from './job.ts';
import { type OpenOptions, storeSettings } from './open.ts';
import type { Duration } from './options.ts';
import { type StoreBackend, storeBackend } from './store-backend.ts';
import { Submitter } from './submitter.ts';
import { Workron } from './workron.ts';

export interface TestKitOptions extends Pick<OpenOptions, 'schema' | 'middleware'> {
  /** Those that the test runs. */
  jobs: readonly RunnableJob[];
  /** `memory:` unless told otherwise; a file or a PostgreSQL behave the same. */
  url?: string;
}

/** A chain of jobs that submit each other would else never end. */
const MAX_RUNS = 10_000;

/** Nothing leaves the test. */
const handlesNothing = () => undefined;

/** The clock of this process, as far ahead as the test wants it. */
class MovedClock implements Clock {
  offsetMs = 0;

  now(): number {
    return systemClock.now() + this.offsetMs;
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return systemClock.sleep(ms, signal);
  }
}

export async function openTestKit({ url = 'memory:', ...options }: TestKitOptions): Promise<TestKit> {
  const clock = new MovedClock();
  const store = await openStore(storeSettings(url, options), { log: silentLog, migrate: true, clock });
  const backend = storeBackend(await openNode({ store, settings: NODE_DEFAULTS, log: silentLog, clock }));
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
  const move = async (ms: number) => {
    if (store.driver === 'postgres') await moveDatabase(url, options.schema ?? 'workron', ms);
    else clock.offsetMs += ms;
  };
  return new TestKit({ backend, workerId: registered.workerId, move, options });
}

/** The database's clock decides there, so that is what moves. */
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
  /** To submit to, and to look at jobs with. It is not started: `runNext` and `runAll` take its place. */
  readonly workron: Workron;
  readonly #backend: StoreBackend;
  readonly #workerId: number;
  readonly #move: (ms: number) => Promise<void>;
  readonly #executor: Executor;
  readonly #handlers: readonly string[];
  #claims = 0;

  constructor({ backend, workerId, move, options: { jobs, middleware = [] } }: Parts) {
    this.#backend = backend;
    this.#workerId = workerId;
    this.#move = move;
    this.#handlers = jobs.map(({ name }) => name);
    this.workron = new Workron({ backend, log: silentLog, middleware, webhooks: handlesNothing });
    const source = backend.source();
    const shared = { source, clock: systemClock, random: Math.random, monotonicMs, log: silentLog };
    const lease = new Lease(monotonicMs);
    lease.renew(monotonicMs(), Number.MAX_SAFE_INTEGER);
    const handlers = handlersOf(jobs, new Submitter({ engine: backend.engine, middleware }));
    this.#executor = handlerExecutor(handlers, new OutputWriter({ ...shared, lease }), new Reporter(source, silentLog));
  }

  /** Runs the most urgent job that is due, to the end of one attempt; answers with the job as it is then, `null` where nothing is due. */
  async runNext(): Promise<Job | null> {
    const { scheduler } = this.#backend.node;
    await this.#settleDown();
    this.#claims += 1;
    const offer = { queues: null, commands: false, handlers: this.#handlers, tags: [], free: {} };
    const request = { workerId: this.#workerId, limit: 1, offer, claimSeq: this.#claims, waitMs: 0 };
    const [claimed] = await scheduler.claim(request, NEVER);
    if (claimed === undefined) return null;
    const outcome = await this.#executor.run(new Assignment(claimed, this.#workerId, performance.now()));
    const { id: jobId, attempt } = claimed;
    await scheduler.settle([{ jobId, attempt, workerId: this.#workerId, outcome }], NEVER);
    await this.#settleDown();
    return jobToWire(await scheduler.job(jobId, NEVER));
  }

  /** Until nothing is due any more, with what the jobs submit meanwhile; answers with each as its attempt left it. */
  async runAll(): Promise<Job[]> {
    const ran: Job[] = [];
    for (;;) {
      const job = await this.runNext();
      if (job === null) return ran;
      ran.push(job);
      if (ran.length >= MAX_RUNS) throw new WorkronError('overloaded', `${MAX_RUNS} jobs ran and more are due`);
    }
  }

  /** Moves time on: schedules fire, what is scheduled or waits for its next attempt comes due. Nothing is run by it. */
  async advance(duration: Duration): Promise<void> {
    await this.#move(msOf(duration));
    await this.#settleDown();
  }

  /** The inputs of all jobs of this kind that were ever submitted, oldest first. */
  async submitted<Input>(type: JobType<Input>): Promise<Input[]> {
    const inputs: Input[] = [];
    let before: number | null = null;
    do {
      const page = await this.#backend.node.scheduler.jobs({}, { before, limit: 1_000 }, NEVER);
      for (const { handler, input } of page.items) if (handler === type.name) inputs.push(input as Input);
      before = page.nextBefore;
    } while (before !== null);
    return inputs.reverse();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.workron.stop();
  }

  /** What duties would do at this moment. */
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

/** The clients of a simulation: they submit, cancel, retry and configure, and send again what was not answered. */

import { isWorkronError } from '../../src/core/error.ts';
import { gangTag } from '../../src/core/gang.ts';
import { DEFAULT_SPEC, type NewJob } from '../../src/core/job.ts';
import { NEVER } from '../../src/core/never.ts';
import { DEFAULT_CATCHUP } from '../../src/core/schedule/plan-ticks.ts';
import { systemClock } from '../../src/ops/clock.ts';
import type { Scheduler } from '../../src/scheduler/scheduler.ts';
import type { JobPlan, Op } from './plan.ts';
import { EPOCH, type Part } from './virtual-time.ts';
import { Wire } from './wire.ts';
import type { World } from './world.ts';

const AGAIN_MS = 1_000;

export class Clients {
  readonly #world: World;
  readonly #part: Part;
  readonly #wire: Wire;
  /** The ids of acknowledged jobs by token. */
  readonly #ids = new Map<string, number>();
  #open = 0;

  constructor(world: World) {
    this.#world = world;
    this.#part = world.newPart('client');
    const { schedulers, conditions } = world;
    this.#wire = new Wire({ sender: this.#part, target: -1, schedulers, conditions });
  }

  /** Calls that are sent again until they are answered. */
  get open(): number {
    return this.#open;
  }

  /** Carries `op` out when its time has come. */
  plan(op: Op): void {
    this.#part.time.after(op.at, this.#part, () => {
      this.#perform(op).catch((error: unknown) => {
        // Without an answer, the client does not know what became of its call.
        if (!isWorkronError(error) && !isTimeout(error)) this.#world.crashed(error);
      });
    });
  }

  async #perform(op: Op): Promise<void> {
    this.#world.note('client', JSON.stringify(op));
    switch (op.type) {
      case 'submit':
        return this.#submit(op);
      case 'burst':
        return this.#burst(op);
      case 'gang':
        return this.#gang(op);
      case 'cancel':
        return this.#about(op.token, (id) =>
          this.#once((scheduler) => scheduler.cancel(id, { keepChildren: false }, NEVER)),
        );
      case 'retry':
        return this.#about(op.token, (id) => {
          this.#world.witness.retried(id);
          return this.#once((scheduler) => scheduler.retry(id, NEVER));
        });
      case 'queue': {
        const { queue, maxRunning, paused } = op;
        await this.#untilDone((scheduler) => scheduler.setQueue(queue, { maxRunning, paused }, NEVER));
        return;
      }
      case 'schedule':
        return this.#schedule(op);
      case 'run_schedule': {
        await this.#once((scheduler) => scheduler.runSchedule(op.name, { keys: null }, {}, NEVER));
        return;
      }
      case 'pause_schedule': {
        await this.#once((scheduler) => scheduler.pauseSchedule(op.name, null, NEVER));
        await systemClock.sleep(op.forMs, NEVER);
        await this.#untilDone((scheduler) => scheduler.resumeSchedule(op.name, NEVER));
        return;
      }
      case 'drain':
      case 'undrain': {
        const { workerId } = this.#world.workers[op.worker] ?? {};
        const act = op.type === 'drain' ? 'drainWorker' : 'undrainWorker';
        if (workerId != null) await this.#once((scheduler) => scheduler[act](workerId, NEVER));
      }
    }
  }

  async #submit({ token, job, idempotent, after, unique }: Extract<Op, { type: 'submit' }>): Promise<void> {
    const parents = after.flatMap((parent) => this.#ids.get(parent) ?? []);
    const wanted: NewJob = {
      ...specOf(job),
      name: unique === null ? token : `${token} ${unique.while}=${unique.key}`,
      runAt: null,
      delayMs: job.delayMs === 0 ? null : job.delayMs,
      unique,
      dependsOn: parents.map((jobId) => ({ jobId, condition: 'success' })),
    };
    if (idempotent) this.#world.witness.idempotent(token);
    const options = idempotent ? { idempotency: { key: token, fingerprint: token } } : {};
    const send = (scheduler: Scheduler) => scheduler.submit([wanted], options, NEVER);
    const { items } = idempotent ? await this.#untilDone(send) : await this.#once(send);
    for (const { job: stored } of items) {
      this.#ids.set(token, stored.id);
      this.#world.witness.acknowledged(stored.id, token);
    }
  }

  async #gang({ token, job, size, min, rule }: Extract<Op, { type: 'gang' }>): Promise<void> {
    const gang = { id: token, size, min, spread: 'pack', onMemberFailure: rule, timeoutMs: 30_000 } as const;
    const delayMs = job.delayMs === 0 ? null : job.delayMs;
    const one = { ...specOf(job), tags: [gangTag(token)], runAt: null, delayMs, unique: null, dependsOn: [] };
    const members = Array.from({ length: size }, (_, rank): NewJob => {
      return { ...one, name: `${token}.${rank}`, gang: { ...gang, rank } };
    });
    for (const { name } of members) this.#world.witness.idempotent(name ?? '');
    const options = { idempotency: { key: token, fingerprint: token } };
    const { items } = await this.#untilDone((scheduler) => scheduler.submit(members, options, NEVER));
    for (const { job: stored } of items) this.#world.witness.acknowledged(stored.id, stored.name ?? '');
    this.#ids.set(token, items[0]?.job.id as number);
  }

  /** Many short jobs at once, so that workers prefetch. */
  async #burst({ token, count, queue, rerun }: Extract<Op, { type: 'burst' }>): Promise<void> {
    const one = {
      ...DEFAULT_SPEC,
      queue,
      rerun,
      handler: 'work',
      input: 'instant',
      runAt: null,
      delayMs: null,
      unique: null,
      dependsOn: [],
    };
    const jobs = Array.from({ length: count }, (_, index) => ({ ...one, name: `${token}.${index}` }));
    const { items } = await this.#once((scheduler) => scheduler.submit(jobs, {}, NEVER));
    for (const { job } of items) this.#world.witness.acknowledged(job.id, job.name ?? '');
  }

  async #schedule({ name, everyMs, overlap, catchup, job }: Extract<Op, { type: 'schedule' }>): Promise<void> {
    this.#world.witness.scheduled(name, overlap);
    const timing = { cron: null, everyMs, anchor: EPOCH, timezone: 'UTC', jitterMs: 0, startAt: null, endAt: null };
    const target = { job: { ...specOf(job), name: `${name} ${overlap}` } };
    await this.#untilDone((scheduler) =>
      scheduler.createSchedule(
        {
          ...timing,
          name,
          owner: null,
          overlap,
          catchup: { ...DEFAULT_CATCHUP, policy: catchup },
          forEach: null,
          target,
        },
        NEVER,
      ),
    );
  }

  /** Ends the schedules, so that all jobs can end. */
  async endSchedules(): Promise<void> {
    const names = this.#world.plan.ops.flatMap((op) => (op.type === 'schedule' ? [op.name] : []));
    for (const name of names) await this.#once((scheduler) => scheduler.pauseSchedule(name, null, NEVER)).catch(ignore);
  }

  /** Opens the queues again. */
  async openQueues(): Promise<void> {
    for (const queue of new Set(this.#world.plan.ops.flatMap((op) => (op.type === 'queue' ? [op.queue] : [])))) {
      await this.#once((scheduler) => scheduler.setQueue(queue, { paused: false }, NEVER)).catch(ignore);
    }
  }

  /** Brings the workers back that were drained. */
  async undrainWorkers(): Promise<void> {
    for (const { workerId } of this.#world.workers) {
      if (workerId !== null) await this.#once((scheduler) => scheduler.undrainWorker(workerId, NEVER)).catch(ignore);
    }
  }

  /** Runs `body` as the client. */
  run(body: () => Promise<void>): void {
    this.#part.time.after(0, this.#part, () => void body().catch((error: unknown) => this.#world.crashed(error)));
  }

  async #about(token: string, act: (id: number) => Promise<unknown>): Promise<void> {
    const id = this.#ids.get(token);
    if (id !== undefined) await act(id);
  }

  async #once<T>(run: (scheduler: Scheduler) => Promise<T>): Promise<T> {
    return await this.#wire.callOnce(run, NEVER);
  }

  /** Sends the call until it is answered; a refusal is an answer. */
  async #untilDone<T>(run: (scheduler: Scheduler) => Promise<T>): Promise<T> {
    this.#open += 1;
    try {
      for (;;) {
        try {
          return await this.#wire.callOnce(run, NEVER);
        } catch (error) {
          if (isWorkronError(error) && !error.retryable && error.code !== 'internal') throw error;
        }
        await systemClock.sleep(AGAIN_MS, NEVER);
      }
    } finally {
      this.#open -= 1;
    }
  }
}

function ignore(): void {}

function isTimeout(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'TimeoutError';
}

function specOf(job: JobPlan): typeof DEFAULT_SPEC {
  const { queue, priority, maxAttempts, timeoutMs, killGraceMs, startTimeoutMs, rerun, onDisconnect, fairKey } = job;
  const { limits, rates } = job;
  const isCommand = job.kind === 'command';
  return {
    ...DEFAULT_SPEC,
    queue,
    priority,
    maxAttempts,
    timeoutMs,
    killGraceMs,
    startTimeoutMs,
    rerun,
    onDisconnect,
    fairKey,
    limits,
    rates,
    command: isCommand ? 'work' : null,
    handler: isCommand ? null : 'work',
    input: job.kind === 'instant' ? 'instant' : null,
    backoff: {
      type: job.backoffMs === 0 ? 'none' : 'fixed',
      baseMs: job.backoffMs,
      factor: 1,
      capMs: 10_000,
      jitter: 0,
    },
    resources: job.gpus === 0 ? {} : { gpu: job.gpus },
  };
}

/** A worker as a process of the simulation: in one with a scheduler, or on its own. Its jobs only take time. */

import { Fatal, Snooze } from '../../src/core/handler-errors.ts';
import { NEVER } from '../../src/core/never.ts';
import { localSource } from '../../src/node/local-source.ts';
import { systemClock } from '../../src/ops/clock.ts';
import type { JobSource } from '../../src/worker/job-source.ts';
import type { HandlerContext } from '../../src/worker/run/handler-context.ts';
import type { Handler } from '../../src/worker/run/handler-executor.ts';
import { Worker } from '../../src/worker/worker.ts';
import type { Execution } from './executions.ts';
import { SimulatedLauncher } from './launcher.ts';
import { behaviourOf, type Plan } from './plan.ts';
import type { SchedulerProcess } from './scheduler-process.ts';
import type { Part } from './virtual-time.ts';
import { linkWorker } from './worker-link.ts';
import type { World } from './world.ts';

const OBEYS_MS = 20;

export class WorkerProcess {
  readonly index: number;
  readonly attachedTo: number | null;
  part: Part;
  /** The id under which it is registered now. */
  workerId: number | null = null;
  /** When its network last had a fault. */
  troubledAt = Number.NEGATIVE_INFINITY;
  readonly #world: World;
  readonly #profile: Plan['workers'][number];
  #life = 0;
  #launcher: SimulatedLauncher | undefined;
  #worker: Worker | undefined;
  #ended = true;

  constructor(index: number, world: World) {
    this.index = index;
    this.#world = world;
    this.#profile = world.plan.workers[index] as Plan['workers'][number];
    this.attachedTo = this.#profile.attachedTo;
    this.part = world.newPart(`worker-${index}`);
    this.part.die();
  }

  /** True if it lives and had no fault of its own in the last leases. */
  get wasWell(): boolean {
    const { time, conditions, plan } = this.#world;
    if (!this.part.alive || this.part.frozen || this.#ended || conditions.isTroubled(this.index)) return false;
    return time.now - this.troubledAt > 3 * plan.leaseMs;
  }

  start(): void {
    if (!this.#ended && this.part.alive) return;
    const host = this.#host;
    if (host !== undefined && !host.isUp) return host.start();
    this.#life += 1;
    this.part = host?.part ?? this.#world.newPart(this.#name);
    this.workerId = null;
    this.#ended = false;
    this.#world.note(this.#name, 'starts');
    this.part.time.after(0, this.part, () => this.#run());
  }

  crash(): void {
    if (this.#ended) return;
    this.#world.note(this.#name, 'crashes');
    const name = this.#name;
    this.#world.witness.executions.died((one) => one.worker === name && one.kind === 'handler');
    this.#ended = true;
    if (this.#host === undefined) this.part.die();
    else this.#host.crash();
  }

  /** The machine is gone, with the launcher and all commands. */
  loseMachine(): void {
    const launcher = this.#launcher;
    this.crash();
    launcher?.killAll();
  }

  /** Ends what the previous life's launcher may still be stopping. */
  sweep(): void {
    this.#launcher?.killAll();
  }

  stop(): void {
    const { part } = this;
    if (this.#ended || !part.alive) return;
    this.#world.note(this.#name, 'is asked to stop');
    part.time.after(0, part, () => void this.#worker?.stop());
  }

  freeze(): void {
    const host = this.#host;
    if (host !== undefined) return host.freeze();
    this.part.frozen = true;
    this.froze();
  }

  froze(): void {
    this.troubledAt = this.#world.time.now;
    this.#world.witness.executions.froze(this.#name);
  }

  thaw(): void {
    this.troubledAt = this.#world.time.now;
    const host = this.#host;
    if (host !== undefined) return host.thaw();
    if (this.part.frozen) this.part.time.thaw(this.part);
  }

  get #name(): string {
    return `worker-${this.index}.${this.#life}`;
  }

  get #host(): SchedulerProcess | undefined {
    return this.attachedTo === null ? undefined : this.#world.schedulers[this.attachedTo];
  }

  #run(): void {
    const { part } = this;
    const name = this.#name;
    const { slots, gpus } = this.#profile;
    const worker = new Worker({
      source: this.#source(part),
      profile: { name, slots, queues: null, commands: true, handlers: ['work'], tags: [], resources: { gpu: gpus } },
      clock: systemClock,
      random: Math.random,
      log: this.#world.logOf(part),
      handlers: { work: this.#handler(name) },
      staysDrained: this.attachedTo !== null,
      launch: async () => (this.#launcher = this.#newLauncher(name, part)),
    });
    this.#worker = worker;
    worker.run().then(
      () => {
        this.#world.note(name, 'has left');
        if (part === this.part) this.#ended = true;
      },
      (error: unknown) => this.#world.crashed(error),
    );
  }

  #source(part: Part): JobSource {
    const { schedulers, conditions, store, witness, plan } = this.#world;
    const { scheduler } = this.#host ?? {};
    const attachment = plan.exclusive ? 'local' : 'direct';
    const source =
      scheduler === undefined
        ? linkWorker({
            part,
            index: this.index,
            schedulers,
            conditions,
            store,
            onSettled: (...args) => witness.settled(...args),
          })
        : localSource({ scheduler, attachment, version: '0.0.0' });
    return {
      ...source,
      register: async (profile, signal) => {
        const registered = await source.register(profile, signal);
        this.workerId = registered.workerId;
        return registered;
      },
    };
  }

  #newLauncher(name: string, worker: Part): SimulatedLauncher {
    const part = this.#world.newPart(`launcher of ${name}`);
    const running = new Map<string, Execution>();
    return new SimulatedLauncher(part, worker, {
      began: (jobId, attempt, finishes) => {
        const begun = { jobId, attempt, worker: name, kind: 'command' as const, exclusive: !finishes };
        running.set(`${jobId}/${attempt}`, this.#began(begun));
        return this.#behaviour(jobId, attempt);
      },
      ended: (jobId, attempt, { exitCode, stopped }) => {
        const end = stopped !== null || exitCode === null ? 'stopped' : exitCode === 0 ? 'success' : 'failure';
        this.#end(running.get(`${jobId}/${attempt}`) as Execution, end);
      },
    });
  }

  #handler(name: string): Handler {
    return (input, context) => {
      const { jobId, attempt } = context;
      const behaviour = this.#behaviour(jobId, attempt);
      const exclusive = !behaviour.ignoresStop && !this.#world.witness.finishes(jobId);
      const begun = { jobId, attempt, worker: name, kind: 'handler' as const, exclusive };
      const execution = this.#began(begun);
      const result = { jobId, attempt };
      if (input === 'instant') {
        this.#end(execution, 'success');
        return result;
      }
      return this.#work(context, execution, behaviour).then(() => result);
    };
  }

  async #work(context: HandlerContext, execution: Execution, behaviour: ReturnType<typeof behaviourOf>): Promise<void> {
    if (behaviour.talks) {
      context.log('working');
      context.progress(0.5);
    }
    const stopped = behaviour.ignoresStop ? NEVER : context.signal;
    await systemClock.sleep(behaviour.runMs, stopped);
    if (stopped.aborted) {
      await systemClock.sleep(OBEYS_MS, NEVER);
      this.#end(execution, 'stopped');
      throw stopped.reason;
    }
    this.#end(execution, behaviour.end === 'success' ? 'success' : behaviour.end === 'snooze' ? 'stopped' : 'failure');
    if (behaviour.end === 'snooze') throw new Snooze(1_000);
    if (behaviour.end === 'fatal') throw new Fatal('fatal');
    if (behaviour.end === 'failure') throw new Error('failure');
  }

  #behaviour(jobId: number, attempt: number): ReturnType<typeof behaviourOf> {
    const token = this.#world.witness.tokenOf(jobId);
    return behaviourOf(this.#world.plan, token, attempt);
  }

  #began(begun: Pick<Execution, 'jobId' | 'attempt' | 'worker' | 'kind' | 'exclusive'>): Execution {
    this.#world.note(begun.worker, `starts job ${begun.jobId}/${begun.attempt}`);
    return this.#world.witness.executions.began(begun, this.#profile);
  }

  #end(execution: Execution, end: Exclude<Execution['end'], null>): void {
    this.#world.note(execution.worker, `job ${execution.jobId}/${execution.attempt} ends: ${end}`);
    this.#world.witness.executions.ended(execution, end);
  }
}

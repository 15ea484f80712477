/** A scheduler with all its duties, as one process of the simulation. Workers may be attached to it. */

import { NEVER } from '../../src/core/never.ts';
import { systemClock } from '../../src/ops/clock.ts';
import { Metrics } from '../../src/ops/metrics.ts';
import { createScheduler } from '../../src/scheduler/create-scheduler.ts';
import { runDuties, runPresence, runStatistics } from '../../src/scheduler/duties/duties.ts';
import { reclaimFromPreviousRun } from '../../src/scheduler/duties/reaper.ts';
import type { Scheduler } from '../../src/scheduler/scheduler.ts';
import type { Part } from './virtual-time.ts';
import type { WorkerProcess } from './worker-process.ts';
import type { World } from './world.ts';

const DAY_MS = 86_400_000;
/** How long a process waits before it tries again to start. */
const RESTART_MS = 500;

export class SchedulerProcess {
  readonly index: number;
  /** `undefined` until it can be called for the first time. */
  scheduler: Scheduler | undefined;
  part: Part;
  readonly #world: World;
  #life = 0;

  constructor(index: number, world: World) {
    this.index = index;
    this.#world = world;
    this.part = world.newPart(`scheduler-${index}`);
    this.part.die();
  }

  get isUp(): boolean {
    return this.part.alive && this.scheduler !== undefined;
  }

  start(): void {
    if (this.part.alive) return;
    this.#life += 1;
    this.part = this.#world.newPart(`scheduler-${this.index}.${this.#life}`);
    this.scheduler = undefined;
    this.#world.note(this.part.name, 'starts');
    this.part.time.after(0, this.part, () => void this.#open(this.part).catch((error) => this.#world.crashed(error)));
  }

  crash(): void {
    if (!this.part.alive) return;
    this.#world.note(this.part.name, 'crashes');
    this.part.die();
    for (const worker of this.#attached()) worker.crash();
  }

  freeze(): void {
    this.part.frozen = true;
    for (const worker of this.#attached()) worker.froze();
  }

  thaw(): void {
    if (this.part.frozen) this.part.time.thaw(this.part);
  }

  async #open(part: Part): Promise<void> {
    const { plan } = this.#world;
    const { leaseMs } = plan;
    const instanceId = part.name;
    const log = this.#world.logOf(part);
    const metrics = new Metrics('0.0.0', instanceId);
    const shared = { clock: systemClock, random: Math.random, log, metrics, instanceId };
    const parts = createScheduler({ ...shared, store: this.#world.storeFor(part), leaseMs, heartbeatMs: leaseMs / 6 });
    if (plan.exclusive) await this.#takeOver();
    for (;;) {
      try {
        await reclaimFromPreviousRun(parts.context, NEVER);
        break;
      } catch {
        await systemClock.sleep(RESTART_MS, NEVER);
      }
    }
    this.scheduler = parts.scheduler;
    const instance = {
      id: instanceId,
      host: 'host',
      pid: 1,
      roles: ['scheduler' as const],
      version: '0.0.0',
      url: null,
    };
    const retention = { doneMs: DAY_MS, otherMs: DAY_MS, statsMs: DAY_MS };
    const duties = {
      leaseMs,
      reapEveryMs: leaseMs / 3,
      forgetWorkersAfterMs: DAY_MS,
      retention,
      ledgerMs: DAY_MS,
      auditMs: DAY_MS,
    };
    const loops = [runStatistics(parts, NEVER), runPresence(parts, instance, NEVER), runDuties(parts, duties, NEVER)];
    for (const loop of loops) loop.catch((error: unknown) => this.#world.crashed(error));
    for (const worker of this.#attached()) worker.start();
  }

  /** A new owner of a store ends the terms of the previous one, and sweeps up its commands. */
  async #takeOver(): Promise<void> {
    const { store } = this.#world;
    if (this.#life > 1) await store.resign(`scheduler-${this.index}.${this.#life - 1}`, NEVER);
    for (const worker of this.#attached()) worker.sweep();
  }

  #attached(): WorkerProcess[] {
    return this.#world.workers.filter(({ attachedTo }) => attachedTo === this.index);
  }
}

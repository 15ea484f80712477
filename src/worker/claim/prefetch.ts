/**
 * Jobs that are claimed before there is a slot for them: how many, and when they go back unstarted. Only handlers' jobs are:
 * where they are short, a worker that claimed for each slot that comes free would wait for claims more than it works.
 */

import type { Clock } from '../../core/clock.ts';
import type { Assignment } from '../run/assignment.ts';
import type { Runner } from '../run/runner.ts';
import { Backlog } from './backlog.ts';
import { ThroughputEstimate } from './throughput-estimate.ts';

/** Jobs that one claim asks for ahead of their slots. */
const MAX_PER_CLAIM = 1_000;
/** What would wait here for longer than so many times what the slots consume in a window is better off elsewhere. */
const MAX_WINDOWS = 4;
const SHED_EVERY_MS = 500;
/** A lease is longer than this by far. */
const CHECK_EVERY_MS = 100;

export interface PrefetchOptions {
  clock: Clock;
  /** Whether others may have been given by now what waits here: after a long sleep, say. */
  isCutOff: () => boolean;
  /** One that has not started goes back. */
  onReturned: (assignment: Assignment) => void;
}

export class Prefetch {
  readonly #options: PrefetchOptions;
  readonly #backlog = new Backlog();
  readonly #throughput = new ThroughputEstimate(() => performance.now());
  /** The last claim brought all that it asked for. */
  #lastClaimWasFull = false;
  #shedding = false;
  #filling = false;
  /** By the wall clock, which a sleeping machine moves too. */
  #checkedAt = 0;

  constructor(options: PrefetchOptions) {
    this.#options = options;
  }

  /** How many wait here. */
  get size(): number {
    return this.#backlog.size;
  }

  /** A claim for up to `limit` jobs has brought `count`. */
  claimed(count: number, limit: number): void {
    this.#lastClaimWasFull = count >= limit;
  }

  /** How many more jobs to claim than there are slots for; only where that is worth a claim. */
  wanted(slots: number): number {
    if (!this.#lastClaimWasFull) return 0;
    const wanted = this.#throughput.jobs;
    if (wanted <= slots || this.#backlog.size > wanted / 2) return 0;
    return Math.min(wanted - this.#backlog.size, MAX_PER_CLAIM);
  }

  add(assignment: Assignment): void {
    this.#backlog.add(assignment);
  }

  /** Starts waiting jobs, most urgent first, while there are free slots. A job may end while it starts, and call this again. */
  fill(runner: Runner): void {
    if (this.#filling) return;
    this.#filling = true;
    this.#returnIfCutOff();
    while (runner.slots.free > 0) {
      const next = this.#backlog.take();
      if (next === undefined) break;
      runner.run(next);
    }
    this.#filling = false;
  }

  /** Whether it waited here. */
  delete(assignment: Assignment): boolean {
    return this.#backlog.delete(assignment);
  }

  /** All go back at once. */
  returnAll(): void {
    this.#keep(0);
  }

  /** Handlers may have become slow: then others shall have what waits here behind them. Resolves once nothing does. */
  async shed(signal: AbortSignal): Promise<void> {
    if (this.#shedding) return;
    this.#shedding = true;
    while (this.#backlog.size > 0) {
      await this.#options.clock.sleep(SHED_EVERY_MS, signal);
      this.#keep(this.#throughput.jobs * MAX_WINDOWS);
    }
    this.#shedding = false;
  }

  /** A handler starts. */
  began(): void {
    this.#throughput.begin();
  }

  /** A handler has ended. */
  consumed(): void {
    this.#throughput.consumed();
  }

  /** Nothing runs; if nothing waits here either, the time until something does is not counted. */
  rest(): void {
    if (this.#backlog.size === 0) this.#throughput.rest();
  }

  /** Returns all if another worker may have been given them. Reads the exact time only every `CHECK_EVERY_MS`. */
  #returnIfCutOff(): void {
    if (this.#backlog.size === 0) return;
    const now = Date.now();
    if (Math.abs(now - this.#checkedAt) < CHECK_EVERY_MS) return;
    this.#checkedAt = now;
    if (this.#options.isCutOff()) this.returnAll();
  }

  #keep(max: number): void {
    for (const assignment of this.#backlog.takeBeyond(max)) this.#options.onReturned(assignment);
  }
}

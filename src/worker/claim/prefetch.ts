/**
 * Jobs that are claimed before there is a slot for them: how many, and when they go back unstarted. Only handlers' jobs are:
 * where they are short, a worker that claimed for each slot that comes free would wait for claims more than it works.
 */

import type { Clock } from '../../core/clock.ts';
import type { Assignment } from '../run/assignment.ts';
import { Backlog } from './backlog.ts';
import { ThroughputEstimate } from './throughput-estimate.ts';

/** Jobs that one claim asks for ahead of their slots. */
const MAX_PER_CLAIM = 1_000;
/** What would wait here for longer than so many times what the slots consume in a window is better off elsewhere. */
const PATIENT_WINDOWS = 4;
const SHED_EVERY_MS = 500;
/** A lease is longer than this by far. */
const DOUBT_EVERY_MS = 100;

export interface AheadOptions {
  clock: Clock;
  /** Whether others may have been given by now what waits here: after a long sleep, say. */
  isCutOff: () => boolean;
  /** One that has not started goes back. */
  onReturned: (assignment: Assignment) => void;
}

export class Prefetch {
  readonly #options: AheadOptions;
  readonly #backlog = new Backlog();
  readonly #appetite = new ThroughputEstimate(() => performance.now());
  /** The last claim brought all that it asked for. */
  #moreWaits = false;
  #shedding = false;
  /** By the wall clock, which a sleeping machine moves too. */
  #doubtedAt = 0;

  constructor(options: AheadOptions) {
    this.#options = options;
  }

  /** How many wait here. */
  get size(): number {
    return this.#backlog.size;
  }

  /** A claim for up to `limit` jobs has brought `count`. */
  claimed(count: number, limit: number): void {
    this.#moreWaits = count >= limit;
  }

  /** How many more jobs to claim than there are slots for; only where that is worth a claim. */
  wanted(slots: number): number {
    if (!this.#moreWaits) return 0;
    const wanted = this.#appetite.jobs;
    if (wanted <= slots || this.#backlog.size > wanted / 2) return 0;
    return Math.min(wanted - this.#backlog.size, MAX_PER_CLAIM);
  }

  add(assignment: Assignment): void {
    this.#backlog.add(assignment);
  }

  /** Takes the most urgent one. */
  take(): Assignment | undefined {
    return this.#backlog.take();
  }

  /** Whether it waited here. */
  delete(assignment: Assignment): boolean {
    return this.#backlog.delete(assignment);
  }

  /** All go back at once. */
  returnAll(): void {
    this.#keep(0);
  }

  /** All go back if others may have been given them. Asks for the exact time only now and then. */
  returnIfInDoubt(): void {
    if (this.#backlog.size === 0) return;
    const now = Date.now();
    if (Math.abs(now - this.#doubtedAt) < DOUBT_EVERY_MS) return;
    this.#doubtedAt = now;
    if (this.#options.isCutOff()) this.returnAll();
  }

  /** Handlers may have become slow: then others shall have what waits here behind them. Resolves once nothing does. */
  async shed(signal: AbortSignal): Promise<void> {
    if (this.#shedding) return;
    this.#shedding = true;
    while (this.#backlog.size > 0) {
      await this.#options.clock.sleep(SHED_EVERY_MS, signal);
      this.#keep(this.#appetite.jobs * PATIENT_WINDOWS);
    }
    this.#shedding = false;
  }

  /** A handler starts. */
  began(): void {
    this.#appetite.begin();
  }

  /** A handler has ended. */
  consumed(): void {
    this.#appetite.consumed();
  }

  /** Nothing runs; if nothing waits here either, the time until something does is not counted. */
  rest(): void {
    if (this.#backlog.size === 0) this.#appetite.rest();
  }

  #keep(most: number): void {
    for (const assignment of this.#backlog.takeBeyond(most)) this.#options.onReturned(assignment);
  }
}

/**
 * Jobs that are claimed before there is a slot for them: how many, and when they are returned unstarted. Only jobs of
 * handlers are prefetched. They can be short, and a worker that claimed for each free slot would wait for claims more
 * than it works.
 */

import type { Clock } from '../../core/clock.ts';
import type { Assignment } from '../run/assignment.ts';
import type { Runner } from '../run/runner.ts';
import { Backlog } from './backlog.ts';
import { ThroughputEstimate } from './throughput-estimate.ts';

/** The maximum number of jobs that one claim prefetches. */
const MAX_PER_CLAIM = 1_000;
/** Jobs that would wait longer than 4 × 250 ms are returned, so that other workers can run them. */
const MAX_WINDOWS = 4;
const SHED_EVERY_MS = 500;
/** Much shorter than any lease. */
const CHECK_EVERY_MS = 100;

interface PrefetchOptions {
  clock: Clock;
  /** True if jobs that wait here may have been given to another worker, after a suspend for instance. */
  isCutOff: () => boolean;
  /** Called for each job that is returned unstarted. */
  onReturned: (assignment: Assignment) => void;
}

export class Prefetch {
  readonly #options: PrefetchOptions;
  readonly #backlog = new Backlog();
  readonly #throughput = new ThroughputEstimate(() => performance.now());
  /** True if the last claim got as many jobs as it asked for. */
  #lastClaimWasFull = false;
  #shedding = false;
  /** By the wall clock, which also advances while the machine is suspended. */
  #checkedAt = 0;

  constructor(options: PrefetchOptions) {
    this.#options = options;
  }

  /** The number of waiting jobs. */
  get size(): number {
    return this.#backlog.size;
  }

  /** Records that a claim for up to `limit` jobs got `count`. */
  claimed(count: number, limit: number): void {
    this.#lastClaimWasFull = count >= limit;
  }

  /** The number of jobs to prefetch; 0 unless it is worth a claim. */
  wanted(slots: number): number {
    if (!this.#lastClaimWasFull) return 0;
    const wanted = this.#throughput.jobs;
    if (wanted <= slots || this.#backlog.size > wanted / 2) return 0;
    return Math.min(wanted - this.#backlog.size, MAX_PER_CLAIM);
  }

  add(assignment: Assignment): void {
    this.#backlog.add(assignment);
  }

  /** Starts waiting jobs, most urgent first, while there are free slots. A job may end while it starts. */
  fill(runner: Runner): void {
    this.#returnIfCutOff();
    while (runner.slots.free > 0) {
      const next = this.#backlog.take();
      if (next === undefined) break;
      runner.run(next);
    }
  }

  /** Returns true if the job was waiting here. */
  delete(assignment: Assignment): boolean {
    return this.#backlog.delete(assignment);
  }

  /** Returns all waiting jobs. */
  returnAll(): void {
    this.#keep(0);
  }

  /** Returns jobs that wait too long because handlers became slow. Resolves once no job waits. */
  async shed(signal: AbortSignal): Promise<void> {
    if (this.#shedding) return;
    this.#shedding = true;
    while (this.#backlog.size > 0) {
      await this.#options.clock.sleep(SHED_EVERY_MS, signal);
      this.#keep(this.#throughput.jobs * MAX_WINDOWS);
    }
    this.#shedding = false;
  }

  /** Records that a handler starts. */
  began(): void {
    this.#throughput.begin();
  }

  /** Records that a handler has ended. */
  consumed(): void {
    this.#throughput.consumed();
  }

  /** Records that nothing runs. If nothing waits either, the time until the next start is not counted. */
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

/** Suspects run alone at first: each may end the process, and a job that runs beside it would be charged with the loss. */

import type { Clock } from '../../core/clock.ts';
import { NEVER } from '../../core/never.ts';
import type { Assignment, HeldAssignments } from '../run/assignment.ts';
import type { Runner } from '../run/runner.ts';

/** The longest wait for the jobs that run already, and then for the suspect itself: long jobs may run beside others. */
const ALONE_MS = 1_000;

export class Alone {
  readonly #held: HeldAssignments;
  #isOn = false;

  constructor(held: HeldAssignments) {
    this.#held = held;
  }

  /** True while no other job may be claimed. */
  get isOn(): boolean {
    return this.#isOn;
  }

  /** Runs a suspect. Resolves when other jobs may be claimed again. */
  async run(suspect: Assignment, runner: Runner, clock: Clock): Promise<void> {
    this.#isOn = true;
    await this.#until(() => this.#held.size === 1, clock);
    runner.run(suspect);
    await this.#until(() => this.#held.find(suspect) === undefined, clock);
    this.#isOn = false;
  }

  /** Waits until outcomes are not only known but answered: an attempt whose outcome gets lost with the process is charged. */
  async #until(condition: () => boolean, clock: Clock): Promise<void> {
    const { released } = this.#held;
    const startedAt = clock.monotonicMs();
    while (!condition()) {
      const leftMs = startedAt + ALONE_MS - clock.monotonicMs();
      if (leftMs <= 0) return;
      released.reset();
      await released.sleep(clock, leftMs, NEVER);
    }
  }
}

/** Prefetched jobs that wait for a slot, the most urgent first. */

import type { Assignment } from '../run/assignment.ts';

export class Backlog {
  /** By priority; jobs of equal priority in the order in which they were claimed. */
  readonly #lines = new Map<number, Set<Assignment>>();
  #priorities: number[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(assignment: Assignment): void {
    const { priority } = assignment.job;
    let line = this.#lines.get(priority);
    if (line === undefined) {
      line = new Set();
      this.#lines.set(priority, line);
      this.#priorities = [...this.#lines.keys()].sort((a, b) => b - a);
    }
    line.add(assignment);
    this.#size += 1;
  }

  /** Removes and returns the most urgent job. */
  take(): Assignment | undefined {
    for (const priority of this.#priorities) {
      for (const assignment of this.#lines.get(priority) ?? []) {
        this.delete(assignment);
        return assignment;
      }
    }
    return undefined;
  }

  /** Returns true if the job was waiting. */
  delete(assignment: Assignment): boolean {
    const { priority } = assignment.job;
    const line = this.#lines.get(priority);
    if (!line?.delete(assignment)) return false;
    this.#size -= 1;
    if (line.size === 0) {
      this.#lines.delete(priority);
      this.#priorities = this.#priorities.filter((other) => other !== priority);
    }
    return true;
  }

  /** Removes and returns all jobs but the `max` most urgent. */
  takeBeyond(max: number): Assignment[] {
    const beyond = this.#priorities.flatMap((priority) => [...(this.#lines.get(priority) ?? [])]).slice(max);
    for (const assignment of beyond) this.delete(assignment);
    return beyond;
  }
}

/** Jobs that were prefetched and wait here for a slot, the most urgent first. */

import type { Assignment } from '../run/assignment.ts';

export class Backlog {
  /** By priority; equal ones in the order in which they were claimed. */
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

  /** Takes the most urgent one. */
  take(): Assignment | undefined {
    for (const priority of this.#priorities) {
      for (const assignment of this.#lines.get(priority) ?? []) {
        this.delete(assignment);
        return assignment;
      }
    }
    return undefined;
  }

  /** Whether it waited here. */
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

  /** Takes all but the `most` that would be taken first. */
  takeBeyond(most: number): Assignment[] {
    const beyond = this.#priorities.flatMap((priority) => [...(this.#lines.get(priority) ?? [])]).slice(most);
    for (const assignment of beyond) this.delete(assignment);
    return beyond;
  }
}

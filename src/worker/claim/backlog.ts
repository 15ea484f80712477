/** Prefetched jobs that wait for a slot, the most urgent first. */

import type { Assignment } from '../run/assignment.ts';

/** Jobs of equal priority, in the order in which they were claimed; those before `next` have been taken. */
interface Line {
  priority: number;
  jobs: Assignment[];
  next: number;
}

export class Backlog {
  /** The highest priority first; no line is empty. */
  #lines: Line[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(assignment: Assignment): void {
    const { priority } = assignment.job;
    let line = this.#lines.find((other) => other.priority === priority);
    if (line === undefined) {
      line = { priority, jobs: [], next: 0 };
      this.#lines.push(line);
      this.#lines.sort((a, b) => b.priority - a.priority);
    }
    line.jobs.push(assignment);
    this.#size += 1;
  }

  /** Removes and returns the most urgent job. */
  take(): Assignment | undefined {
    const [line] = this.#lines;
    if (line === undefined) return undefined;
    const assignment = line.jobs[line.next];
    line.next += 1;
    this.#size -= 1;
    if (line.next === line.jobs.length) this.#lines.shift();
    return assignment;
  }

  /** Returns true if the job was waiting. */
  delete(assignment: Assignment): boolean {
    const all = this.#inOrder();
    const others = all.filter((other) => other !== assignment);
    if (others.length === all.length) return false;
    this.#replace(others);
    return true;
  }

  /** Removes and returns all jobs but the `max` most urgent. */
  takeBeyond(max: number): Assignment[] {
    if (this.#size <= max) return [];
    const all = this.#inOrder();
    this.#replace(all.slice(0, max));
    return all.slice(max);
  }

  #inOrder(): Assignment[] {
    return this.#lines.flatMap(({ jobs, next }) => jobs.slice(next));
  }

  #replace(all: readonly Assignment[]): void {
    this.#lines = [];
    this.#size = 0;
    for (const assignment of all) this.add(assignment);
  }
}

/** The leases that this worker has, and must tell the scheduler about: from the claim until the end is settled. */

import type { LeaseRef } from '../../core/lease.ts';
import type { Assignment } from './assignment.ts';

export class Held {
  /** By job: a later attempt takes the place of one that was lost. */
  readonly #assignments = new Map<number, Assignment>();

  get size(): number {
    return this.#assignments.size;
  }

  get all(): Assignment[] {
    return [...this.#assignments.values()];
  }

  leases(): LeaseRef[] {
    return Array.from(this.#assignments.values(), ({ jobId, attempt }) => ({ jobId, attempt }));
  }

  add(assignment: Assignment): void {
    this.#assignments.set(assignment.jobId, assignment);
  }

  delete(assignment: Assignment): void {
    if (this.#assignments.get(assignment.jobId) === assignment) this.#assignments.delete(assignment.jobId);
  }

  find({ jobId, attempt }: LeaseRef): Assignment | undefined {
    const assignment = this.#assignments.get(jobId);
    return assignment?.attempt === attempt ? assignment : undefined;
  }
}

/** An attempt that this worker holds, from the claim until its settle is answered. */

import { Stopped } from '../../core/handler-errors.ts';
import type { ClaimedJob } from '../../core/job.ts';
import type { LeaseRef } from '../../core/lease.ts';

/** Why an attempt is stopped. `lost`: it is no longer this worker's, so its outcome is not reported. */
export type StopReason = 'cancelled' | 'interrupted' | 'cut_off' | 'lost';

const REASONS: Readonly<Record<StopReason, () => Stopped>> = {
  cancelled: () => new Stopped('cancelled', 'the job was cancelled'),
  interrupted: () => new Stopped('shutdown', 'the worker stops'),
  cut_off: () => new Stopped('lost', 'the worker lost contact with the scheduler'),
  lost: () => new Stopped('lost', 'the job is no longer this worker\u2019s'),
};

/** Created for every job, so it allocates nothing that most jobs do not need. */
export class Assignment implements LeaseRef {
  readonly job: ClaimedJob;
  readonly workerId: number;
  /**
   * When the attempt started, by the scheduler's clock; `null` until then. For a prefetched job this must be reported.
   */
  startedAt: number | null = null;
  /** True if the scheduler knows that the attempt has started. */
  startReported: boolean;
  /** The first reason for which the attempt was stopped; `null` if it was not. */
  stopped: StopReason | null = null;
  /** True if its lease was lost: its outcome is dropped. */
  lost = false;
  /** True if its outcome is known and being reported. */
  ended = false;
  /** Set if the handler still runs after the attempt was settled. It keeps its slot until then. */
  stillBusy: Promise<unknown> | undefined;
  /** Called once nothing of the attempt runs any more. */
  afterwards: (() => void) | undefined;
  readonly #takenAt: number;
  #listener: (() => void) | undefined;
  #controller: AbortController | undefined;

  /** `takenAt` is when the job arrived, by the process's clock. */
  constructor(job: ClaimedJob, workerId: number, takenAt: number) {
    this.job = job;
    this.workerId = workerId;
    this.startReported = !job.prefetched;
    this.#takenAt = takenAt;
  }

  get jobId(): number {
    return this.job.id;
  }

  /** Records the start; `now` is by the same clock as `takenAt`. */
  begin(now: number): void {
    this.startedAt = Math.round(this.job.startedAt + now - this.#takenAt);
  }

  get attempt(): number {
    return this.job.attempt;
  }

  /** Aborts when the attempt is stopped. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.stopped !== null) this.#controller.abort(REASONS[this.stopped]());
    }
    return this.#controller.signal;
  }

  /** Aborts the signal because of the attempt's own timeout. */
  abort(reason: Stopped): void {
    this.#controller?.abort(reason);
  }

  /** Calls `listener` when the attempt is stopped, or at once if it was. Only one listener is kept. */
  onStop(listener: () => void): void {
    this.#listener = listener;
    if (this.stopped !== null) listener();
  }

  stop(reason: StopReason): void {
    if (reason === 'lost') this.lost = true;
    if (this.stopped !== null) return;
    this.stopped = reason;
    this.#controller?.abort(REASONS[reason]());
    this.#listener?.();
  }
}

/** The attempts that this worker holds a lease on, from the claim until the settle is answered. */
export class HeldAssignments {
  /** By job id: a later attempt replaces a lost one. */
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

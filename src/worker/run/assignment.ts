/** One attempt in this worker's hands, from the claim until its settle is answered. */

import { Stopped } from '../../core/handler-errors.ts';
import type { ClaimedJob } from '../../core/job.ts';
import type { LeaseRef } from '../../core/lease.ts';

/** Why an attempt is stopped before its end. `lost`: it is not ours any more, so there is nothing to report. */
export type StopReason = 'cancelled' | 'interrupted' | 'cut_off' | 'lost';

const REASONS: Readonly<Record<StopReason, () => Stopped>> = {
  cancelled: () => new Stopped('cancelled', 'the job was cancelled'),
  interrupted: () => new Stopped('shutdown', 'the worker stops'),
  cut_off: () => new Stopped('lost', 'the worker lost contact with the scheduler'),
  lost: () => new Stopped('lost', 'the job is no longer this worker\u2019s'),
};

/** Made for every job, so it makes nothing that most jobs do not need. */
export class Assignment implements LeaseRef {
  readonly job: ClaimedJob;
  readonly workerId: number;
  /** When it started here, by the scheduler's clock; `null` until then. Of a job that was prefetched it has to be told. */
  startedAt: number | null = null;
  /** The scheduler knows that it has started. */
  startReported: boolean;
  /** The first reason counts. */
  stopped: StopReason | null = null;
  /** Its lease was given away: whatever it ends with is dropped. */
  lost = false;
  /** Its outcome is known, and on its way. */
  ended = false;
  /** Work that goes on after the outcome was told, and keeps its slot until it ends. */
  stillBusy: Promise<unknown> | undefined;
  /** Called once nothing of it runs any more. */
  afterwards: (() => void) | undefined;
  readonly #takenAt: number;
  #listener: (() => void) | undefined;
  #controller: AbortController | undefined;

  /** `takenAt`: when it arrived here, by the clock of the process. */
  constructor(job: ClaimedJob, workerId: number, takenAt: number) {
    this.job = job;
    this.workerId = workerId;
    this.startReported = !job.prefetched;
    this.#takenAt = takenAt;
  }

  get jobId(): number {
    return this.job.id;
  }

  /** `now` by the same clock. */
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

  /** Aborts the signal without a reason from outside: its own time is over. */
  abort(reason: Stopped): void {
    this.#controller?.abort(reason);
  }

  /** Calls `listener`, one at most, when the attempt is stopped; at once if it was. */
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

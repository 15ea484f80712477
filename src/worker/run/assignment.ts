/** An attempt that this worker holds, from the claim until its settle is answered. */

import { Stopped } from '../../core/handler-errors.ts';
import type { ClaimedJob } from '../../core/job.ts';
import type { LeaseRef } from '../../core/lease.ts';
import { Wake } from '../../ops/wake.ts';

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
  /** True if its function was suspended: it goes on in another attempt. */
  suspended = false;
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

  /** The scheduler's time, as far as it is known here. */
  storeNow(now: number): number {
    return this.job.startedAt + now - this.#takenAt;
  }

  /** Records the start; `now` is by the same clock as `takenAt`. */
  begin(now: number): void {
    this.startedAt = Math.round(this.storeNow(now));
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

  /** Its outcome was answered, or is dropped: nobody waits any more for what a suspended function has left open. */
  released(): void {
    if (this.suspended) this.abort(new Stopped('suspended', 'the function goes on in another attempt'));
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
  /** The latest attempt of each job. */
  readonly #latest = new Map<number, Assignment>();
  /** Attempts of which the worker holds a later one, because their outcome was not answered yet. */
  readonly #earlier = new Set<Assignment>();
  /** Fired when one is no longer held. */
  readonly released = new Wake();

  get size(): number {
    return this.#latest.size + this.#earlier.size;
  }

  get all(): Assignment[] {
    return [...this.#earlier, ...this.#latest.values()];
  }

  leases(): LeaseRef[] {
    return this.all.map(({ jobId, attempt }) => ({ jobId, attempt }));
  }

  /** Returns an earlier attempt of the job that has not ended. It is lost, although no heartbeat has said so yet. */
  add(assignment: Assignment): Assignment | undefined {
    const earlier = this.#latest.get(assignment.jobId);
    if (earlier !== undefined) this.#earlier.add(earlier);
    this.#latest.set(assignment.jobId, assignment);
    return earlier?.ended === false ? earlier : undefined;
  }

  delete(assignment: Assignment): void {
    if (this.#latest.get(assignment.jobId) === assignment) this.#latest.delete(assignment.jobId);
    else this.#earlier.delete(assignment);
    assignment.released();
    this.released.fire();
  }

  find({ jobId, attempt }: LeaseRef): Assignment | undefined {
    const latest = this.#latest.get(jobId);
    if (latest?.attempt === attempt) return latest;
    return this.#earlier.values().find((earlier) => earlier.jobId === jobId && earlier.attempt === attempt);
  }
}

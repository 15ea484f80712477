import type { Start, Success } from '../../../core/lease.ts';

/** The map is cleared beyond this number: jobs that other processes settle would stay in it for ever. */
const MAX_JOBS = 100_000;

/** What this process knows of an attempt that it has claimed. It does not change until the attempt ends. */
interface ClaimedAttempt {
  attempt: number;
  queue: string;
  dueAt: number;
  startedAt: number;
  /** The start is only known once it was reported. */
  prefetched?: true;
}

interface OpenClaim {
  workerId: number;
  /** The row of `claim`. */
  id: number;
  /** The number of its jobs that have not ended. */
  left: number;
}

export interface OpenAttempt {
  readonly claim: OpenClaim;
  readonly attempt: number;
  readonly queue: string;
  readonly dueAt: number;
  /** `null` until the start of a prefetched job is reported. */
  startedAt: number | null;
}

/**
 * The claims of this process whose jobs have not all ended. Saves the settle from returning what is known here. When the last job
 * of a claim ends, the worker's next claim deletes the row of `claim`; rows that are forgotten here are deleted by a heartbeat.
 */
export class OpenClaims {
  readonly #byJob = new Map<number, OpenAttempt>();
  readonly #ended = new Map<number, number[]>();

  open(claimed: { workerId: number; id: number }, jobs: readonly (ClaimedAttempt & { id: number })[]): void {
    if (this.#byJob.size + jobs.length > MAX_JOBS) this.#byJob.clear();
    const claim = { ...claimed, left: jobs.length };
    for (const { id, attempt, queue, dueAt, startedAt, prefetched } of jobs) {
      this.#byJob.set(id, { claim, attempt, queue, dueAt, startedAt: prefetched ? null : startedAt });
    }
  }

  /** Returns the attempt if this process has claimed it for the same worker. */
  find({ jobId, attempt, workerId }: Pick<Success, 'jobId' | 'attempt' | 'workerId'>): OpenAttempt | undefined {
    const found = this.#byJob.get(jobId);
    return found?.attempt === attempt && found.claim.workerId === workerId ? found : undefined;
  }

  /** Records the start of a prefetched job. */
  started(start: Start): void {
    const found = this.find(start);
    if (found !== undefined) found.startedAt ??= start.startedAt;
  }

  /** Call this after the attempt has ended. The job may have been claimed again since: that claim stays open. */
  release(jobId: number, attempt: number): void {
    const found = this.#byJob.get(jobId);
    if (found === undefined || found.attempt !== attempt) return;
    this.#byJob.delete(jobId);
    const { claim } = found;
    claim.left -= 1;
    if (claim.left > 0) return;
    const ended = this.#ended.get(claim.workerId);
    if (ended === undefined) this.#ended.set(claim.workerId, [claim.id]);
    else ended.push(claim.id);
  }

  /** Returns the claims of a worker whose jobs have ended, once. */
  takeEnded(workerId: number): readonly number[] {
    const ended = this.#ended.get(workerId) ?? [];
    this.#ended.delete(workerId);
    return ended;
  }
}

/** The map is cleared beyond this number: jobs that other processes settle would stay in it for ever. */
const MAX_JOBS = 100_000;

interface OpenClaim {
  workerId: number;
  id: number;
  /** The number of its jobs that have not ended. */
  left: number;
}

/**
 * The claims of this process whose jobs have not all ended. When the last one ends, the worker's next claim deletes the row of
 * `claim`. Rows that are forgotten here are deleted by a heartbeat.
 */
export class OpenClaims {
  readonly #byJob = new Map<number, { claim: OpenClaim; attempt: number }>();
  readonly #ended = new Map<number, number[]>();

  open(claim: { workerId: number; id: number }, jobs: readonly { id: number; attempt: number }[]): void {
    if (this.#byJob.size + jobs.length > MAX_JOBS) this.#byJob.clear();
    const opened = { ...claim, left: jobs.length };
    for (const { id, attempt } of jobs) this.#byJob.set(id, { claim: opened, attempt });
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

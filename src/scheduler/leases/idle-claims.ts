/** Claims of this process that found nothing and wait. A submit can claim its jobs for one in its own transaction. */

import type { ClaimedJob, NewJob } from '../../core/job.ts';
import { laneOf, serves } from '../../core/lane.ts';
import type { Wake } from '../../ops/wake.ts';
import type { ClaimRequest } from '../../store/job-store.ts';

interface IdleClaim {
  request: ClaimRequest;
  /** Ends its wait. */
  wake: Wake;
  /** The jobs that a submit claims for this request; `undefined` until a submit has begun to. */
  given: Promise<ClaimedJob[]> | undefined;
}

export class IdleClaims {
  /** The longest waiting claim is first. */
  readonly #claims = new Set<IdleClaim>();

  /**
   * Waits by `sleep` and returns the jobs that a submit claimed for this request meanwhile. If a submit is already
   * claiming for this request, waits for it: otherwise the claim would run twice. Rejects if that submit fails, because
   * it is unknown what was claimed.
   */
  async wait(request: ClaimRequest, wake: Wake, sleep: () => Promise<void>): Promise<ClaimedJob[]> {
    const claim: IdleClaim = { request, wake, given: undefined };
    // Without a claim number, jobs whose answer is lost would be held until the lease expires.
    if (request.claimSeq !== null && !request.prefetch) this.#claims.add(claim);
    try {
      await sleep();
    } finally {
      this.#claims.delete(claim);
    }
    return (await claim.given) ?? [];
  }

  /** Calls `hand` with a waiting claim that can run `job`; `undefined` if there is none. */
  give<T extends { claimed: ClaimedJob[] }>(
    job: NewJob,
    hand: (request: ClaimRequest) => Promise<T>,
  ): Promise<T> | undefined {
    const lane = laneOf(job);
    const claim = this.#claims.values().find(({ request }) => serves(request.offer, lane));
    if (claim === undefined) return undefined;
    this.#claims.delete(claim);
    const handed = hand(claim.request);
    claim.given = handed.then(({ claimed }) => claimed);
    const wake = () => claim.wake.fire();
    claim.given.then(wake, wake);
    return handed;
  }
}

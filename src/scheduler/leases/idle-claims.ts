/** Claims of this process that found nothing and wait: a submit can hand its jobs to one of them in the same step. */

import type { ClaimedJob, NewJob } from '../../core/job.ts';
import { laneOf, serves } from '../../core/lane.ts';
import type { Wake } from '../../ops/wake.ts';
import type { ClaimRequest } from '../../store/job-store.ts';

interface IdleClaim {
  request: ClaimRequest;
  /** Ends its wait. */
  wake: Wake;
  /** What it was given, once somebody has begun to. */
  given: Promise<ClaimedJob[]> | undefined;
}

export class IdleClaims {
  /** The one that has waited longest first. */
  readonly #claims = new Set<IdleClaim>();

  /**
   * Waits by `sleep`, and answers with what was handed to it meanwhile. Whoever began to is waited for, or the same claim
   * would be made twice; if that fails, so does this, as then nobody knows what was handed out.
   */
  async wait(request: ClaimRequest, wake: Wake, sleep: () => Promise<void>): Promise<ClaimedJob[]> {
    const claim: IdleClaim = { request, wake, given: undefined };
    // Without a number a claim whose answer is lost would be held until the lease is over.
    if (request.claimSeq !== null && !request.prefetch) this.#claims.add(claim);
    try {
      await sleep();
    } finally {
      this.#claims.delete(claim);
    }
    return (await claim.given) ?? [];
  }

  /** Lets `hand` give to a claim that can run `job`; `undefined` where none waits. */
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

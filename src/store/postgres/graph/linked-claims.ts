import type { JobScope } from '../../engine/graph/graph-update.ts';

/** The cache is cleared beyond this number: jobs that other processes settle would stay in it for ever. */
const MAX_CLAIMS = 100_000;

export interface LinkedClaim extends JobScope {
  /** Its name in the run context of its children. */
  key: string;
}

/**
 * Jobs that were linked to others when this process claimed them. Saves a query for their scope, and an attempt to settle
 * them as jobs without links. A cache: jobs that are not in it end in the same way.
 */
export class LinkedClaims {
  readonly #jobs = new Map<number, LinkedClaim>();

  remember(jobs: readonly (LinkedClaim & { id: number })[]): void {
    if (this.#jobs.size + jobs.length > MAX_CLAIMS) this.#jobs.clear();
    for (const { id, workflowId, groupId, key } of jobs) this.#jobs.set(id, { workflowId, groupId, key });
  }

  /** Removes the job from the cache and returns it. */
  take(id: number): LinkedClaim | undefined {
    const found = this.#jobs.get(id);
    if (found !== undefined) this.#jobs.delete(id);
    return found;
  }
}

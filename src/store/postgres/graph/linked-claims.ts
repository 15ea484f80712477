/** More are not remembered: those who never settled here would be kept for ever. */
const MOST = 100_000;

/** What a job belongs to; that never changes. */
export interface JobScope {
  workflowId: number | null;
  groupId: number | null;
}

export interface LinkedClaim extends JobScope {
  /** As its children know it. */
  key: string;
}

/**
 * Jobs that were linked to others when this process handed them out: their ends need not be tried the simple way first, and
 * it is known where they belong. Only that. A job that is forgotten, or that somebody else handed out, ends just the same.
 */
export class LinkedClaims {
  readonly #jobs = new Map<number, LinkedClaim>();

  remember(jobs: readonly (LinkedClaim & { id: number })[]): void {
    if (this.#jobs.size + jobs.length > MOST) this.#jobs.clear();
    for (const { id, workflowId, groupId, key } of jobs) this.#jobs.set(id, { workflowId, groupId, key });
  }

  /** What is known of it, if it was among them; from now on it is not. */
  take(id: number): LinkedClaim | undefined {
    const found = this.#jobs.get(id);
    if (found !== undefined) this.#jobs.delete(id);
    return found;
  }
}

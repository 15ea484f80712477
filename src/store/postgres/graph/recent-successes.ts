/** Beyond this number the older half is forgotten. */
const MAX_SUCCESSES = 50_000;

/**
 * Parents that succeeded in this process and have no result, by id. Saves a query when their children are claimed here a
 * moment later. A done job never changes; groups, which may run again, are never among them.
 */
export class RecentSuccesses {
  /** Their names in the run contexts of their children. */
  #keys = new Map<number, string>();
  #older = new Map<number, string>();

  remember(jobId: number, key: string): void {
    if (this.#keys.size >= MAX_SUCCESSES / 2) {
      this.#older = this.#keys;
      this.#keys = new Map();
    }
    this.#keys.set(jobId, key);
  }

  keyOf(jobId: number): string | undefined {
    return this.#keys.get(jobId) ?? this.#older.get(jobId);
  }
}

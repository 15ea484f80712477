/** Of so many the older half is forgotten. */
const MOST = 50_000;

/**
 * Parents that this process has ended well and that left no result, by id: their children, which mostly are claimed here a
 * moment later, are told of them without another look. What is done stays so; a group, which may run again, is never among
 * them.
 */
export class RecentSuccesses {
  /** As their children know them. */
  #keys = new Map<number, string>();
  #older = new Map<number, string>();

  remember(jobId: number, key: string): void {
    if (this.#keys.size >= MOST / 2) {
      this.#older = this.#keys;
      this.#keys = new Map();
    }
    this.#keys.set(jobId, key);
  }

  keyOf(jobId: number): string | undefined {
    return this.#keys.get(jobId) ?? this.#older.get(jobId);
  }
}

/** The oldest are forgotten first. */
const MOST = 50_000;

/**
 * Parents that this process has ended well and that left no result, by id: their children, which mostly are claimed here a
 * moment later, are told of them without another look. What is done stays so; a group, which may run again, is never among
 * them.
 */
export class RecentSuccesses {
  /** As their children know them. */
  readonly #keys = new Map<number, string>();

  remember(jobId: number, key: string): void {
    this.#keys.set(jobId, key);
    if (this.#keys.size <= MOST) return;
    for (const oldest of this.#keys.keys()) {
      this.#keys.delete(oldest);
      break;
    }
  }

  keyOf(jobId: number): string | undefined {
    return this.#keys.get(jobId);
  }
}

/** More are not remembered: those who never settled here would be kept for ever. */
const MOST = 100_000;

/**
 * Jobs that were linked to others when this process handed them out: their ends need not be tried the simple way first.
 * Only that. A job that is forgotten, or that somebody else handed out, ends just the same.
 */
export class LinkedClaims {
  readonly #ids = new Set<number>();

  remember(ids: readonly number[]): void {
    if (this.#ids.size + ids.length > MOST) this.#ids.clear();
    for (const id of ids) this.#ids.add(id);
  }

  /** Whether it was among them; from now on it is not. */
  take(id: number): boolean {
    return this.#ids.delete(id);
  }
}

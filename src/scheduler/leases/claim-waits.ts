/** The waiting claims of workers, so that a worker can end its own wait early and claim with what it has free by then. */

interface Entry {
  /** Claims of the worker up to this number do not wait. */
  endedSeq: number;
  waiting: Map<number, AbortController>;
}

/** A worker may end a wait here and claim elsewhere, and any number may be sent: the oldest entry gives way. */
const MAX_WORKERS = 10_000;

export class ClaimWaits {
  readonly #workers = new Map<number, Entry>();

  /** Registers a claim that may wait. Its signal aborts when the wait is to end, even if that was asked for before. */
  enter({ workerId, claimSeq }: { workerId: number; claimSeq: number | null }): { signal: AbortSignal } & Disposable {
    const end = new AbortController();
    if (claimSeq === null) return { signal: end.signal, [Symbol.dispose]: () => undefined };
    const entry = this.#entryOf(workerId);
    entry.waiting.set(claimSeq, end);
    if (claimSeq <= entry.endedSeq) end.abort();
    return {
      signal: end.signal,
      [Symbol.dispose]: () => {
        if (entry.waiting.get(claimSeq) === end) entry.waiting.delete(claimSeq);
        const isOver = entry.waiting.size === 0 && claimSeq >= entry.endedSeq;
        // The worker may have been forgotten, and have claimed again.
        if (isOver && this.#workers.get(workerId) === entry) this.#workers.delete(workerId);
      },
    };
  }

  /** Ends the waits of the worker's claims up to this number, including one that has not arrived yet. */
  end(workerId: number, claimSeq: number): void {
    const entry = this.#entryOf(workerId);
    entry.endedSeq = Math.max(entry.endedSeq, claimSeq);
    for (const [seq, end] of entry.waiting) if (seq <= claimSeq) end.abort();
  }

  forget(workerId: number): void {
    this.#workers.delete(workerId);
  }

  #entryOf(workerId: number): Entry {
    let entry = this.#workers.get(workerId);
    if (entry === undefined) {
      entry = { endedSeq: 0, waiting: new Map() };
      const [oldest] = this.#workers.keys();
      if (this.#workers.size >= MAX_WORKERS && oldest !== undefined) this.#workers.delete(oldest);
      this.#workers.set(workerId, entry);
    }
    return entry;
  }
}

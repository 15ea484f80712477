import type { Clock } from '../core/clock.ts';

/** Ends a sleep early. Firing between `reset` and `sleep` is not lost. */
export class Wake {
  #fired = false;
  readonly #sleepers = new Set<() => void>();

  /** True if it was fired since the last reset. */
  get fired(): boolean {
    return this.#fired;
  }

  fire(): void {
    if (this.#fired) return;
    this.#fired = true;
    for (const wake of this.#sleepers) wake();
  }

  reset(): void {
    this.#fired = false;
  }

  /** Resolves after `ms`, when fired, or when `signal` aborts; at once if fired since the last reset. */
  async sleep(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
    if (this.#fired || signal.aborted) return;
    const early = new AbortController();
    const wake = () => early.abort();
    const abort = () => early.abort();
    this.#sleepers.add(wake);
    signal.addEventListener('abort', abort, { once: true });
    try {
      await clock.sleep(ms, early.signal);
    } finally {
      this.#sleepers.delete(wake);
      signal.removeEventListener('abort', abort);
    }
  }
}

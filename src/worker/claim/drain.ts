/** Whether a worker takes jobs, and when it leaves. */

interface DrainOptions {
  /** True if a worker that was asked to drain waits until it may take jobs again. Otherwise it leaves. */
  stays: boolean;
  /** True if the worker has no job. */
  isIdle: () => boolean;
}

export class Drain {
  readonly #options: DrainOptions;
  #current = new AbortController();
  #isLeaving = false;
  #onOver: (() => void) | undefined;

  constructor(options: DrainOptions) {
    this.#options = options;
  }

  /** Aborted while the worker takes no jobs. A new one follows when it takes jobs again. */
  get signal(): AbortSignal {
    return this.#current.signal;
  }

  get isOn(): boolean {
    return this.#current.signal.aborted;
  }

  /** True if the worker leaves once it is idle. */
  get leaves(): boolean {
    return this.#isLeaving || (this.isOn && !this.#options.stays);
  }

  /** The process wants the worker to leave; nothing takes that back. */
  leave(): void {
    this.#isLeaving = true;
    this.#begin();
  }

  /** Follows the last word of the scheduler. Returns whether that changed something. */
  obey(drain: boolean): boolean {
    if (this.#isLeaving || drain === this.isOn) return false;
    if (drain) this.#begin();
    else {
      this.#current = new AbortController();
      this.check();
    }
    return true;
  }

  /** Resolves once the worker may leave, or takes jobs again. */
  over(): Promise<void> {
    return new Promise((resolve) => {
      this.#onOver = resolve;
      this.check();
    });
  }

  /** To be called whenever the worker may have become idle, which it may after any job: so it looks first whether anybody waits. */
  check(): void {
    if (this.#onOver === undefined) return;
    if (!this.isOn || (this.leaves && this.#options.isIdle())) this.#onOver();
  }

  #begin(): void {
    this.#current.abort(new Error('draining'));
    this.check();
  }
}

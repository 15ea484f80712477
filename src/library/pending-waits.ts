/** Waits for jobs that are pending when the backend closes: each reads its job once more, so that no end is missed. */

import { WorkronError } from '../core/error.ts';
import { isTerminal } from '../core/job.ts';
import type { Engine } from './engine.ts';

export class PendingWaits {
  readonly #engine: Pick<Engine, 'wait'>;
  readonly #closing: AbortSignal;
  readonly #pending = new Set<Promise<unknown>>();
  #closed = false;

  constructor(engine: Pick<Engine, 'wait'>, closing: AbortSignal) {
    this.#engine = engine;
    this.#closing = closing;
  }

  /** Like `Engine.wait`; rejects if the job has not ended when the backend closes. */
  async wait(id: string, timeoutMs: number, signal: AbortSignal): ReturnType<Engine['wait']> {
    if (this.#closed) throw stopped();
    const wait = this.#waitOrRead(id, timeoutMs, signal);
    this.#pending.add(wait);
    try {
      return await wait;
    } finally {
      this.#pending.delete(wait);
    }
  }

  /** Resolves once all pending waits have read their job for the last time. Later waits are refused. */
  async done(): Promise<void> {
    // A caller between two waits gets the chance to begin the next one.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#pending.size > 0) await Promise.allSettled(this.#pending);
    this.#closed = true;
  }

  async #waitOrRead(id: string, timeoutMs: number, signal: AbortSignal): ReturnType<Engine['wait']> {
    if (!this.#closing.aborted) {
      try {
        const job = await this.#engine.wait(id, timeoutMs, AbortSignal.any([signal, this.#closing]));
        if (!this.#closing.aborted || isTerminal(job.status)) return job;
      } catch (error) {
        if (!this.#closing.aborted || signal.aborted) throw error;
      }
    }
    const job = await this.#engine.wait(id, 0, signal);
    if (!isTerminal(job.status)) throw stopped();
    return job;
  }
}

export function stopped(): WorkronError {
  return new WorkronError('shutting_down', 'Workron was stopped');
}

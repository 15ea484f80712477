/** Those who wait for jobs while their home is closed: each looks once more, so that what ended just before is not missed. */

import { WorkronError } from '../core/error.ts';
import { isTerminal } from '../core/job.ts';
import type { Engine } from './engine.ts';

export class PendingWaits {
  readonly #engine: Pick<Engine, 'wait'>;
  readonly #closing: AbortSignal;
  readonly #looks = new Set<Promise<unknown>>();
  #closed = false;

  constructor(engine: Pick<Engine, 'wait'>, closing: AbortSignal) {
    this.#engine = engine;
    this.#closing = closing;
  }

  /** As `Engine.wait`; rejects where the job has not ended when the home is closed. */
  async wait(id: string, timeoutMs: number, signal: AbortSignal): ReturnType<Engine['wait']> {
    if (this.#closed) throw stopped();
    const look = this.#waitOrLook(id, timeoutMs, signal);
    this.#looks.add(look);
    try {
      return await look;
    } finally {
      this.#looks.delete(look);
    }
  }

  /** Resolves once all have looked; from then on nobody may. */
  async done(): Promise<void> {
    // Whoever is between two waits comes for another one.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#looks.size > 0) await Promise.allSettled(this.#looks);
    this.#closed = true;
  }

  async #waitOrLook(id: string, timeoutMs: number, signal: AbortSignal): ReturnType<Engine['wait']> {
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

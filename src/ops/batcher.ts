/**
 * Natural batching: items that arrive in one turn of the event loop, or while a call is in flight, are sent together in
 * the next call. There is no timer, no delay when idle, and group commit under load.
 */

import { WorkronError } from '../core/error.ts';
import { NEVER } from '../core/never.ts';

interface BatcherOptions<In, Out> {
  /** Handles a batch and answers in order. */
  send: (items: In[], signal: AbortSignal) => Promise<Out[]>;
  /** The maximum number of items per call. */
  maxBatch: number;
  /** The maximum number of waiting items. Beyond it, `add` rejects with `overloaded`. */
  maxWaiting: number;
  /** The maximum number of calls in flight. */
  concurrency?: number;
  /** True to halve a failed batch until the bad item is alone, false to fail it as a whole. */
  splits?: (error: unknown) => boolean;
}

interface Entry<In, Out> {
  item: In;
  resolve: (out: Out) => void;
  reject: (error: Error) => void;
}

/** Collects single items into batched calls. With `splits`, a bad item fails alone. */
export class Batcher<In, Out> {
  readonly #options: BatcherOptions<In, Out>;
  #waiting: Entry<In, Out>[] = [];
  #inFlight = 0;
  #pumpsSoon = false;
  readonly #closed = new AbortController();

  constructor(options: BatcherOptions<In, Out>) {
    this.#options = options;
  }

  /** Resolves with this item's own answer. Aborting has an effect only until the item is sent. */
  add(item: In, signal: AbortSignal): Promise<Out> {
    if (signal.aborted) return Promise.reject(signal.reason as Error);
    if (this.#waiting.length >= this.#options.maxWaiting) {
      return Promise.reject(
        new WorkronError('overloaded', 'Too many calls are waiting; try again shortly', { retryAfterMs: 1_000 }),
      );
    }
    return new Promise<Out>((resolve, reject) => {
      const entry: Entry<In, Out> = { item, resolve, reject };
      if (signal !== NEVER) this.#leaveOn(signal, entry);
      this.#waiting.push(entry);
      this.#pumpSoon();
    });
  }

  #leaveOn(signal: AbortSignal, entry: Entry<In, Out>): void {
    const { resolve, reject } = entry;
    const leave = () => {
      const index = this.#waiting.indexOf(entry);
      if (index === -1) return;
      this.#waiting.splice(index, 1);
      reject(signal.reason as Error);
    };
    signal.addEventListener('abort', leave, { once: true });
    entry.resolve = (out) => {
      signal.removeEventListener('abort', leave);
      resolve(out);
    };
    entry.reject = (error) => {
      signal.removeEventListener('abort', leave);
      reject(error);
    };
  }

  /**
   * Sends at the end of this turn of the event loop: callers that were just answered often call again in the same turn.
   */
  #pumpSoon(): void {
    if (this.#pumpsSoon || this.#waiting.length === 0) return;
    this.#pumpsSoon = true;
    setImmediate(() => {
      this.#pumpsSoon = false;
      this.#pump();
    });
  }

  #pump(): void {
    while (this.#waiting.length > 0 && this.#inFlight < (this.#options.concurrency ?? 1)) {
      const batch = this.#waiting.splice(0, this.#options.maxBatch);
      this.#inFlight += 1;
      void this.#send(batch).finally(() => {
        this.#inFlight -= 1;
        this.#pumpSoon();
      });
    }
  }

  async #send(batch: Entry<In, Out>[]): Promise<void> {
    try {
      const outs = await this.#options.send(
        batch.map((entry) => entry.item),
        this.#closed.signal,
      );
      batch.forEach((entry, index) => entry.resolve(outs[index] as Out));
    } catch (error) {
      if (batch.length > 1 && (this.#options.splits?.(error) ?? false)) {
        const middle = batch.length >> 1;
        await this.#send(batch.slice(0, middle));
        await this.#send(batch.slice(middle));
      } else {
        const reason = error instanceof Error ? error : new Error(String(error));
        for (const entry of batch) entry.reject(reason);
      }
    }
  }
}

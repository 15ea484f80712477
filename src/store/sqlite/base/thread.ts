/** The calling side of a thread: a call is a message, its answer a promise. */

import type { Worker } from 'node:worker_threads';
import type { Clock } from '../../../core/clock.ts';
import { WorkronError } from '../../../core/error.ts';
import type { TermFence } from '../../../core/leadership.ts';
import type { Part } from '../../../core/part.ts';
import { startThread } from '../../../ops/start-part.ts';
import type { Announcement } from '../../hint.ts';
import { decodeFailure } from './failure.ts';
import {
  type Args,
  type FromThread,
  type Methods,
  send,
  type ThreadAnswer,
  type ThreadRequest,
  type ToThread,
} from './protocol.ts';

const ENTRIES = {
  writer: { file: new URL('./writer.ts', import.meta.url) },
  reader: { file: new URL('./reader.ts', import.meta.url) },
  backup: { file: new URL('./backup.ts', import.meta.url) },
} satisfies Record<string, Part>;

interface Pending {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

interface ThreadOptions {
  entry: keyof typeof ENTRIES;
  data: { file: string; target?: string };
  clock: Clock;
  /** Called after the commit, before the caller gets its answer. */
  onChanged?: (changed: Announcement) => void;
}

export interface ThreadCallOptions {
  /** A leader's call: does nothing if the term is over. */
  fence?: TermFence;
  /** Buffers that are transferred to the thread instead of copied. */
  handedOver?: readonly ArrayBuffer[];
}

/** The part of a thread that a store uses. */
export type Calls<M extends Methods> = Pick<Thread<M>, 'call' | 'close' | 'fenced' | 'health'>;

export class Thread<M extends Methods> {
  readonly #options: ThreadOptions;
  readonly #worker: Worker;
  readonly #pending = new Map<number, Pending>();
  readonly #ready = Promise.withResolvers<void>();
  readonly #ended = Promise.withResolvers<void>();
  #lastId = 0;
  /** Whether a call has failed because of the file itself: a full disk, a lock, an error of the disk. */
  readonly health = { hasFailed: false };
  /** Why no more calls are possible. */
  #over: Error | null = null;

  private constructor(options: ThreadOptions, worker: Worker) {
    this.#options = options;
    this.#worker = worker;
    this.#worker.on('message', (message: FromThread) => this.#receive(message));
    this.#worker.on('error', (error) => this.#end(error));
    this.#worker.on('exit', () => this.#end(null));
  }

  /** Resolves once the thread is ready to serve; rejects with the reason why it is not. */
  static async start<M extends Methods>(options: ThreadOptions): Promise<Thread<M>> {
    const { entry, data } = options;
    const worker = await startThread(ENTRIES[entry], {
      workerData: data,
      name: `workron-sqlite-${entry}`,
    });
    const thread = new Thread<M>(options, worker);
    try {
      await thread.#ready.promise;
    } catch (error) {
      await thread.#ended.promise;
      throw error;
    }
    thread.#worker.unref();
    return thread;
  }

  fenced(fence: () => TermFence, reads: Partial<M>): Calls<M> {
    return fencedCalls(this, fence, reads);
  }

  /** If the signal aborts before the call is sent, nothing happens; after that the abort only ends the caller's waiting. */
  call<K extends keyof M & string>(
    method: K,
    args: Args<M, K>,
    signal: AbortSignal,
    { fence, handedOver }: ThreadCallOptions = {},
  ): Promise<ReturnType<M[K]>> {
    if (signal.aborted) return Promise.reject(signal.reason as Error);
    if (this.#over !== null) return Promise.reject(this.#over);
    return new Promise((resolve, reject) => {
      const id = (this.#lastId += 1);
      const giveUp = () => reject(signal.reason as Error);
      signal.addEventListener('abort', giveUp, { once: true });
      const settled = () => signal.removeEventListener('abort', giveUp);
      // An idle thread does not keep the process alive.
      if (this.#pending.size === 0) this.#worker.ref();
      this.#pending.set(id, {
        resolve(value) {
          settled();
          resolve(value as ReturnType<M[K]>);
        },
        reject(error) {
          settled();
          reject(error);
        },
      });
      try {
        const request: ThreadRequest = { id, method, now: this.#options.clock.now(), args };
        this.#post(fence === undefined ? request : { ...request, fence }, handedOver);
      } catch (error) {
        this.#pending.delete(id);
        throw error;
      }
    });
  }

  /** Resolves when the thread has ended; a backup's thread ends when it is done. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** Answers earlier calls, then ends the thread. */
  async close(): Promise<void> {
    if (this.#over === null) {
      this.#over = new WorkronError('store_unavailable', 'The store is closed');
      this.#worker.ref();
      this.#post('close');
    }
    await this.#ended.promise;
  }

  #post(message: ToThread, handedOver?: readonly ArrayBuffer[]): void {
    send(this.#worker, message, handedOver);
  }

  #receive(message: FromThread): void {
    if ('answers' in message) {
      for (const answer of message.answers) this.#answer(answer);
      if (this.#pending.size === 0 && this.#over === null) this.#worker.unref();
    }
    if ('ready' in message) this.#ready.resolve();
    if ('failed' in message) this.#ready.reject(decodeFailure(message.failed));
  }

  #answer({ id, value, failure, changed }: ThreadAnswer): void {
    if (changed !== undefined) this.#options.onChanged?.(changed);
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    if (failure === undefined) pending?.resolve(value);
    else {
      if (failure.code === 'store_full' || failure.code === 'store_unavailable') this.health.hasFailed = true;
      pending?.reject(decodeFailure(failure));
    }
  }

  #end(cause: unknown): void {
    const { entry, data } = this.#options;
    this.#over ??= new WorkronError('store_unavailable', `The ${entry} of ${data.file} has ended; restart Workron`, {
      cause,
    });
    for (const pending of this.#pending.values()) pending.reject(this.#over);
    this.#pending.clear();
    this.#ready.reject(this.#over);
    this.#ended.resolve();
  }
}

/** The same calls for a leader: all methods but `reads` are called only in its term. */
export function fencedCalls<M extends Methods>(calls: Calls<M>, fence: () => TermFence, reads: Partial<M>): Calls<M> {
  return {
    call: async (method, args, signal, options) =>
      calls.call(method, args, signal, method in reads ? options : { ...options, fence: fence() }),
    close: () => calls.close(),
    health: calls.health,
    fenced: (other) => calls.fenced(other, reads),
  };
}

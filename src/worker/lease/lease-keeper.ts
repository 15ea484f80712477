/**
 * Keeps a worker's lease while its event loop is blocked: a thread renews it whenever the loop has been silent for too
 * long. A process that hangs for good does not keep its jobs for ever: the thread gives up once the loop has been silent
 * for longer than anything that runs may take.
 */

import { Worker as Thread } from 'node:worker_threads';
import type { Clock } from '../../core/clock.ts';
import type { LeaseKeeperPlan } from '../../core/lease-keeper.ts';
import type { Log } from '../../ops/log.ts';
import { monotonicMs } from '../time/monotonic.ts';

/** Cells of the memory that both sides share; instants are of the monotonic clock, in milliseconds. */
export const CELLS = { aliveAt: 0, longestMs: 1, workerId: 2, renewedAt: 3 } as const;

export interface LeaseKeeperData {
  plan: LeaseKeeperPlan;
  shared: SharedArrayBuffer;
  heartbeatMs: number;
}

/** Who works, and how long what runs now may take at most; 0: nothing runs. */
interface Work {
  workerId: number;
  longestMs: number;
}

/** How often the loop says that it lives, in parts of a heartbeat. */
const ALIVE_SHARE = 1 / 4;

export class LeaseKeeper implements AsyncDisposable {
  readonly #aliveEveryMs: number;
  readonly #cells: BigInt64Array;
  readonly #thread: Thread;
  #longestMs = 0;

  constructor(plan: LeaseKeeperPlan, heartbeatMs: number, log: Log) {
    const shared = new SharedArrayBuffer(Object.keys(CELLS).length * BigInt64Array.BYTES_PER_ELEMENT);
    this.#cells = new BigInt64Array(shared);
    this.#aliveEveryMs = heartbeatMs * ALIVE_SHARE;
    const extension = import.meta.url.slice(import.meta.url.lastIndexOf('.'));
    const data: LeaseKeeperData = { plan, shared, heartbeatMs };
    this.#thread = new Thread(new URL(`./lease-keeper-thread${extension}`, import.meta.url), {
      workerData: data,
      name: 'workron-lease-keeper',
    });
    this.#thread.on('error', (error) =>
      log.warn({ error }, 'lease keeper thread failed; a handler that blocks the event loop may lose its lease'),
    );
    this.#thread.unref();
  }

  /** By the monotonic clock: when the last renewal by the thread that was answered was sent; 0: never. */
  get renewedAt(): number {
    return Number(Atomics.load(this.#cells, CELLS.renewedAt));
  }

  /** Says that the loop turns, and for how long it may stand still if it does, until `signal` aborts. */
  async run(clock: Clock, look: () => Work, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const { workerId, longestMs } = look();
      Atomics.store(this.#cells, CELLS.workerId, BigInt(workerId));
      this.#setLongest(longestMs);
      Atomics.store(this.#cells, CELLS.aliveAt, BigInt(Math.floor(monotonicMs())));
      await clock.sleep(this.#aliveEveryMs, signal);
    }
  }

  /** Something that may take so long is about to start, and may block the loop at once. */
  starting(longestMs: number): void {
    if (longestMs > this.#longestMs) this.#setLongest(longestMs);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#thread.terminate();
  }

  #setLongest(longestMs: number): void {
    this.#longestMs = longestMs;
    Atomics.store(this.#cells, CELLS.longestMs, BigInt(Math.ceil(longestMs)));
  }
}

/**
 * Keeps a worker's lease while its event loop is blocked: a thread renews it if the loop has not run for too long. A
 * process that hangs forever does not keep its jobs: the thread stops once the loop has been blocked for longer than
 * any running handler may take.
 */

import { Worker as Thread } from 'node:worker_threads';
import type { Clock } from '../../core/clock.ts';
import type { LeaseKeeperPlan } from '../../core/lease-keeper.ts';
import type { Log } from '../../ops/log.ts';
import { monotonicMs } from '../../ops/monotonic.ts';

/** Cells of the shared memory. Instants are milliseconds of the monotonic clock. */
export const CELLS = { aliveAt: 0, longestMs: 1, workerId: 2, renewedAt: 3 } as const;

export interface LeaseKeeperData {
  plan: LeaseKeeperPlan;
  shared: SharedArrayBuffer;
  heartbeatMs: number;
}

/** `longestMs`: the longest time that a running handler may take; 0 if none runs. */
interface Work {
  workerId: number;
  longestMs: number;
}

/** How often the loop reports that it runs, as a share of a heartbeat interval. */
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

  /** When the thread sent its last answered renewal, by the monotonic clock; 0: never. */
  get renewedAt(): number {
    return Number(Atomics.load(this.#cells, CELLS.renewedAt));
  }

  /** Reports that the loop runs, and how long it may be blocked from now on, until `signal` aborts. */
  async run(clock: Clock, current: () => Work, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const { workerId, longestMs } = current();
      Atomics.store(this.#cells, CELLS.workerId, BigInt(workerId));
      this.#setLongest(longestMs);
      Atomics.store(this.#cells, CELLS.aliveAt, BigInt(Math.floor(monotonicMs())));
      await clock.sleep(this.#aliveEveryMs, signal);
    }
  }

  /** Announces a handler that may take this long and may block the loop at once. */
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

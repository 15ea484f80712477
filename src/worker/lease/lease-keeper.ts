/**
 * Keeps a worker's lease while its event loop is blocked: a thread renews it if the loop has not run for too long. A
 * process that hangs forever does not keep its jobs: the thread stops once the loop has been blocked for longer than
 * any running handler may take.
 */

import type { Worker as Thread } from 'node:worker_threads';
import type { Clock } from '../../core/clock.ts';
import type { LeaseKeeperPlan } from '../../core/lease-keeper.ts';
import type { Part } from '../../core/part.ts';
import type { Log } from '../../ops/log.ts';
import { monotonicMs } from '../../ops/monotonic.ts';
import { specifierOf, startThread } from '../../ops/start-part.ts';

/** Cells of the shared memory. Instants are milliseconds of the monotonic clock. */
export const CELLS = { aliveAt: 0, longestMs: 1, workerId: 2, renewedAt: 3 } as const;

const THREAD: Part = { file: new URL('./lease-keeper-thread.ts', import.meta.url) };

export interface LeaseKeeperData {
  /** What the thread imports to connect, and what `connect` takes. */
  module: string;
  data: unknown;
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

  private constructor(thread: Thread, cells: BigInt64Array, heartbeatMs: number) {
    this.#thread = thread;
    this.#cells = cells;
    this.#aliveEveryMs = heartbeatMs * ALIVE_SHARE;
  }

  static async open({ module, data }: LeaseKeeperPlan, heartbeatMs: number, log: Log): Promise<LeaseKeeper> {
    const shared = new SharedArrayBuffer(Object.keys(CELLS).length * BigInt64Array.BYTES_PER_ELEMENT);
    const workerData: LeaseKeeperData = { module: await specifierOf(module), data, shared, heartbeatMs };
    const thread = await startThread(THREAD, { workerData, name: 'workron-lease-keeper' });
    thread.on('error', (error) =>
      log.warn({ error }, 'lease keeper thread failed; a handler that blocks the event loop may lose its lease'),
    );
    thread.unref();
    return new LeaseKeeper(thread, new BigInt64Array(shared), heartbeatMs);
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

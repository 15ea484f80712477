/** Sends heartbeats: they renew the leases that the worker holds, and their answers list the attempts to stop. */

import type { Clock, Random } from '../../core/clock.ts';
import type { HeartbeatOrders, WorkerHeartbeat } from '../../core/lease.ts';
import type { Log } from '../../ops/log.ts';
import { Wake } from '../../ops/wake.ts';
import type { JobSource, Registration } from '../job-source.ts';
import { RetryBackoff } from '../time/retry-backoff.ts';
import { within } from '../time/within.ts';

interface HeartbeaterOptions {
  source: JobSource;
  clock: Clock;
  random: Random;
  log: Log;
  monotonicMs: () => number;
  /** Called for each heartbeat, right before it is sent. */
  heartbeat: () => WorkerHeartbeat;
  /** `sentAt` is by the monotonic clock. */
  onOrders: (orders: HeartbeatOrders, sentAt: number) => void;
  /** Called if the scheduler does not know this worker. Resolves once the worker has registered again. */
  onForgotten: (signal: AbortSignal) => Promise<void>;
}

type Pace = Pick<Registration, 'heartbeatMs' | 'leaseMs'>;

export class Heartbeater {
  readonly #options: HeartbeaterOptions;
  readonly #backoff: RetryBackoff;
  readonly #wake = new Wake();

  constructor(options: HeartbeaterOptions) {
    this.#options = options;
    this.#backoff = new RetryBackoff(options.random);
  }

  /** Sends the next heartbeat at once. */
  wake(): void {
    this.#wake.fire();
  }

  /** Resolves when `signal` aborts. Never rejects. */
  async run(pace: () => Pace, signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    while (!signal.aborted) {
      this.#wake.reset();
      const { heartbeatMs, leaseMs } = pace();
      let waitMs = heartbeatMs;
      try {
        // A hanging connection must be noticed while there is time to try another.
        await this.beat(Math.max(heartbeatMs, leaseMs / 3), signal);
        this.#backoff.succeeded();
      } catch (error) {
        if (signal.aborted) return;
        waitMs = Math.min(waitMs, this.#backoff.failed());
        if (this.#backoff.isNew) log.warn({ error }, 'heartbeat failed; retrying');
      }
      await this.#wake.sleep(clock, waitMs, signal);
    }
  }

  /** Sends one heartbeat. Rejects if it is not answered within `answerMs`. */
  async beat(answerMs: number, signal: AbortSignal): Promise<void> {
    const { source, monotonicMs, heartbeat, onOrders, onForgotten } = this.#options;
    const sentAt = monotonicMs();
    const orders = await within(answerMs, signal, (inner) => source.heartbeat(heartbeat(), inner));
    if (orders === undefined) await onForgotten(signal);
    else onOrders(orders, sentAt);
  }
}

/**
 * Waits for jobs to end without missing an end. However many callers wait, the store is read for all of them together:
 * for the jobs that a hint names, and for all jobs from time to time, because a hint may be lost or cut short.
 */

import type { Clock } from '../../core/clock.ts';
import { isTerminal, type Job } from '../../core/job.ts';
import { Batcher } from '../../ops/batcher.ts';
import { Wake } from '../../ops/wake.ts';
import { MAX_SURE_IDS } from '../../store/hint.ts';
import type { Store } from '../../store/store.ts';
import { jobNotFound } from './change-job.ts';

const POLL_MS = 500;
/** The least time between two polls if hints are cut short. */
const MIN_POLL_MS = 100;
/** With more waiting jobs than this, polls are rarer, so that they read this many jobs in `POLL_MS` at most. */
const MAX_POLLED = 500;
/** The same for polls that a hint asked for: this many jobs in `MIN_POLL_MS` at most. */
const MAX_POLLED_SOON = 100;
/** Results can be large. */
const MAX_READ = 200;

type WaitedStore = Pick<Store, 'read' | 'subscribe'>;

export class JobWaits {
  readonly #store: WaitedStore;
  readonly #clock: Clock;
  /** Ends early with the job as it is. */
  readonly #stopped: AbortSignal;
  readonly #reads: Batcher<number, Job | undefined>;
  /** By job id. */
  readonly #waiting = new Map<number, Set<Wake>>();
  /** Fired if a hint did not name all jobs that changed. */
  readonly #pollSoon = new Wake();
  #watch: { unsubscribe: () => void; ended: AbortController } | undefined;

  constructor({ store, clock }: { store: WaitedStore; clock: Clock }, stopped: AbortSignal) {
    this.#store = store;
    this.#clock = clock;
    this.#stopped = stopped;
    this.#reads = new Batcher({
      send: async (ids, signal) => {
        const jobs = new Map((await store.read([...new Set(ids)], signal)).map((job) => [job.id, job]));
        return ids.map((id) => jobs.get(id));
      },
      maxBatch: MAX_READ,
      maxWaiting: Number.POSITIVE_INFINITY,
      concurrency: 2,
    });
  }

  /** Returns the job once it is terminal, or in its current state after `timeoutMs` or when `stopped` aborts. */
  async wait({ id, timeoutMs }: { id: number; timeoutMs: number }, signal: AbortSignal): Promise<Job> {
    const until = this.#clock.monotonicMs() + timeoutMs;
    const wake = new Wake();
    const ended = AbortSignal.any([signal, this.#stopped]);
    this.#enter(id, wake);
    try {
      for (;;) {
        wake.reset();
        const job = timeoutMs === 0 ? (await this.#store.read([id], signal))[0] : await this.#reads.add(id, signal);
        if (job === undefined) throw jobNotFound(id);
        const left = until - this.#clock.monotonicMs();
        if (isTerminal(job.status) || left <= 0 || this.#stopped.aborted) return job;
        await wake.sleep(this.#clock, left, ended);
        signal.throwIfAborted();
      }
    } finally {
      this.#leave(id, wake);
    }
  }

  #enter(id: number, wake: Wake): void {
    const others = this.#waiting.get(id);
    if (others === undefined) this.#waiting.set(id, new Set([wake]));
    else others.add(wake);
    if (this.#watch !== undefined) return;
    const ended = new AbortController();
    const unsubscribe = this.#store.subscribe((hint) => {
      if (hint.topic !== 'jobs') return;
      for (const changed of hint.ids) this.#waiting.get(changed)?.forEach((waiting) => waiting.fire());
      if (hint.ids.length >= MAX_SURE_IDS) this.#pollSoon.fire();
    });
    this.#watch = { unsubscribe, ended };
    void this.#poll(ended.signal);
  }

  #leave(id: number, wake: Wake): void {
    const others = this.#waiting.get(id);
    others?.delete(wake);
    if (others?.size === 0) this.#waiting.delete(id);
    if (this.#waiting.size > 0) return;
    this.#watch?.unsubscribe();
    this.#watch?.ended.abort();
    this.#watch = undefined;
  }

  async #poll(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const everyMs = POLL_MS * Math.max(1, this.#waiting.size / MAX_POLLED);
      const soonMs = MIN_POLL_MS * Math.max(1, this.#waiting.size / MAX_POLLED_SOON);
      await this.#clock.sleep(soonMs, signal);
      await this.#pollSoon.sleep(this.#clock, everyMs - soonMs, signal);
      this.#pollSoon.reset();
      for (const wakes of this.#waiting.values()) for (const wake of wakes) wake.fire();
    }
  }
}

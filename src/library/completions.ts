/**
 * Counts jobs that were completed inside a transaction of the application. Whether the transaction commits is known only
 * later, so a success is counted when its attempt is settled, or found to be lost.
 */

import type { LeaseRef } from '../core/lease.ts';
import type { Telemetry } from '../scheduler/telemetry.ts';
import type { Store } from '../store/store.ts';

export class Completions {
  readonly #store: Store;
  readonly #telemetry: Telemetry;
  /** Attempts by job. */
  readonly #open = new Map<number, number>();

  constructor(store: Store, telemetry: Telemetry) {
    this.#store = store;
    this.#telemetry = telemetry;
  }

  /** Remembers an attempt that is done if its transaction commits. */
  add({ jobId, attempt }: LeaseRef): void {
    this.#open.set(jobId, attempt);
  }

  /** Counts each of these attempts once if it is done already. Others are counted when they are settled. */
  async count(attempts: readonly LeaseRef[], signal: AbortSignal): Promise<void> {
    if (this.#open.size === 0) return;
    const ids = attempts.flatMap(({ jobId, attempt }) => (this.#open.get(jobId) === attempt ? [jobId] : []));
    if (ids.length === 0) return;
    for (const { id, status, attempt, queue, dueAt, startedAt, doneAt } of await this.#store.read(ids, signal)) {
      const expected = this.#open.get(id);
      this.#open.delete(id);
      if (status !== 'done' || attempt !== expected || doneAt === null) continue;
      const times = { dueAt, startedAt: startedAt ?? doneAt, endedAt: doneAt };
      this.#telemetry.settled([{ result: 'ok', fresh: true, queue, ...times }]);
    }
  }
}

/**
 * Successes that were committed with an application's own writes, for the statistics. Whether the transaction commits
 * shows only later, so they are counted when their attempt is reported, or found to be no longer held.
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

  /** The attempt is done if the application's transaction commits. */
  add({ jobId, attempt }: LeaseRef): void {
    this.#open.set(jobId, attempt);
  }

  /** Counts each of these attempts once, if it is done already: a report that is still to be written counts itself. */
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

/**
 * Attempts that their handler completed inside a transaction of the application. Whether the transaction has committed is
 * known only later: when the attempt is settled, or found to be no longer this worker's.
 */

import type { LeaseRef } from '../core/lease.ts';
import type { Settlement, SettleResult } from '../core/outcome.ts';
import type { Telemetry } from '../scheduler/telemetry.ts';
import type { Store } from '../store/store.ts';

const NOT_COMMITTED =
  'complete() was called, but its transaction had not committed when the handler returned; commit before returning, or throw';

interface Completion {
  attempt: number;
  /** True once the attempt was seen to be done. */
  committed: boolean;
}

export class Completions {
  readonly #store: Store;
  readonly #telemetry: Telemetry;
  /** By job. */
  readonly #open = new Map<number, Completion>();

  constructor(store: Store, telemetry: Telemetry) {
    this.#store = store;
    this.#telemetry = telemetry;
  }

  /** Remembers an attempt that is done if its transaction commits. */
  add({ jobId, attempt }: LeaseRef): void {
    this.#open.set(jobId, { attempt, committed: false });
  }

  /** Marks what is written about an attempt that may be done by now: the store accepts it also then. */
  marked<T extends LeaseRef>(items: readonly T[]): readonly (T & { completed?: boolean })[] {
    if (this.#open.size === 0) return items;
    return items.map((item) => (this.#of(item) === undefined ? item : { ...item, completed: true }));
  }

  /** Returns the attempts that are lost indeed. A handler whose completion has committed may go on. */
  async withoutCommitted(lost: LeaseRef[], signal: AbortSignal): Promise<LeaseRef[]> {
    if (this.#open.size === 0 || lost.length === 0) return lost;
    await this.#look(lost, signal);
    const indeed = lost.filter((lease) => !this.#of(lease)?.committed);
    // The worker reports nothing about a lost attempt, so nothing else would remove it.
    for (const lease of indeed) if (this.#of(lease) !== undefined) this.#open.delete(lease.jobId);
    return indeed;
  }

  /**
   * Settles by `settle`, except for attempts that are done by their completion, whatever their handler did afterwards. A
   * handler that succeeded although its completion has not committed has failed: its effects were rolled back.
   */
  async settle(
    settlements: readonly Settlement[],
    settle: (rest: readonly Settlement[]) => Promise<SettleResult[]>,
    signal: AbortSignal,
  ): Promise<SettleResult[]> {
    if (this.#open.size === 0) return settle(settlements);
    await this.#look(settlements, signal);
    const rest = settlements.filter((settlement) => !this.#of(settlement)?.committed);
    const answers = rest.length === 0 ? [] : await settle(rest.map((settlement) => this.#judged(settlement)));
    const byRest = new Map(rest.map((settlement, index) => [settlement, answers[index] ?? 'invalid']));
    const results = settlements.map((settlement) => byRest.get(settlement) ?? 'ok');
    for (const settlement of settlements) if (this.#of(settlement) !== undefined) this.#open.delete(settlement.jobId);
    return results;
  }

  #of({ jobId, attempt }: LeaseRef): Completion | undefined {
    const found = this.#open.get(jobId);
    return found?.attempt === attempt ? found : undefined;
  }

  #judged(settlement: Settlement): Settlement {
    if (settlement.outcome.type !== 'succeeded' || this.#of(settlement) === undefined) return settlement;
    return { ...settlement, outcome: { type: 'failed', exitCode: null, signal: null, error: NOT_COMMITTED } };
  }

  /** Marks and counts those that are done. */
  async #look(attempts: readonly LeaseRef[], signal: AbortSignal): Promise<void> {
    const ids = attempts.flatMap((lease) => (this.#of(lease)?.committed === false ? [lease.jobId] : []));
    if (ids.length === 0) return;
    for (const { id, status, attempt, queue, dueAt, startedAt, doneAt } of await this.#store.read(ids, signal)) {
      const completion = this.#of({ jobId: id, attempt });
      if (completion === undefined || completion.committed || status !== 'done' || doneAt === null) continue;
      completion.committed = true;
      const times = { dueAt, startedAt: startedAt ?? doneAt, endedAt: doneAt };
      this.#telemetry.settled([{ result: 'ok', fresh: true, queue, ...times }]);
    }
  }
}

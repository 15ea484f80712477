/**
 * Waiting claims poll the store in case a hint was lost. Claims with equal offers take turns: if one finds nothing,
 * neither would the others. So the store is polled once per interval and offer, however many workers are idle. A claim
 * also reads the store when it begins and when a hint wakes it, independently of this.
 */

import type { Clock } from '../../core/clock.ts';
import type { Wake } from '../../ops/wake.ts';
import type { ClaimRequest } from '../../store/job-store.ts';
import type { Store } from '../../store/store.ts';

/** Bounds how late a job is noticed if processes share a database and a hint was lost. */
const SHARED_POLL_MS = 1_000;
const EXCLUSIVE_POLL_MS = 5_000;

/** Claims with equal offers. */
interface PollGroup {
  /** The claim that polls next is first. */
  waiting: Set<Wake>;
  /** The last claim that was woken to poll, until it has done so. */
  polling: Wake | undefined;
  ended: AbortController;
}

export interface PollSlot extends Disposable {
  /** Reports that the claim has polled and waits on. */
  foundNothing(): void;
}

export class SharedPolling {
  readonly #clock: Clock;
  readonly #everyMs: number;
  readonly #groups = new Map<string, PollGroup>();

  constructor({ exclusive }: Pick<Store, 'exclusive'>, clock: Clock) {
    this.#clock = clock;
    this.#everyMs = exclusive ? EXCLUSIVE_POLL_MS : SHARED_POLL_MS;
  }

  /** Adds a claim that has found nothing. Until disposed, `wake` is fired when it is this claim's turn to poll. */
  join({ offer, prefetch = false }: ClaimRequest, wake: Wake): PollSlot {
    const key = JSON.stringify([offer, prefetch]);
    let group = this.#groups.get(key);
    if (group === undefined) {
      group = { waiting: new Set(), polling: undefined, ended: new AbortController() };
      this.#groups.set(key, group);
      void this.#pollInTurn(group);
    }
    const joined = group;
    joined.waiting.add(wake);
    return {
      foundNothing: () => {
        if (joined.polling === wake && !wake.fired) joined.polling = undefined;
      },
      [Symbol.dispose]: () => {
        joined.waiting.delete(wake);
        // The claim found jobs, so there may be more; or it failed or was given up, so another has to poll.
        if (joined.polling === wake) wakeNext(joined);
        if (joined.waiting.size > 0) return;
        joined.ended.abort();
        this.#groups.delete(key);
      },
    };
  }

  async #pollInTurn(group: PollGroup): Promise<void> {
    const { signal } = group.ended;
    while (!signal.aborted) {
      await this.#clock.sleep(this.#everyMs, signal);
      wakeNext(group);
    }
  }
}

/** Wakes the claims in rotation: that of a draining worker finds nothing, and must not be the only one that polls. */
function wakeNext(group: PollGroup): void {
  const [next] = group.waiting;
  group.polling = next;
  if (next === undefined) return;
  group.waiting.delete(next);
  group.waiting.add(next);
  next.fire();
}

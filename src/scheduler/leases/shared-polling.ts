/**
 * Claims that wait look now and then, in case a hint was lost. Those with the same wishes do so in turn: where one finds
 * nothing, so would the others. However many workers have nothing to do, the store is asked once an interval for each kind
 * of them, not once for each.
 *
 * A claim looks itself when it begins and when it is told of work; this is not about those looks.
 */

import type { Clock } from '../../core/clock.ts';
import type { Wake } from '../../ops/wake.ts';
import type { ClaimRequest } from '../../store/job-store.ts';
import type { Store } from '../../store/store.ts';

/** Hints may be lost where several processes share a database; then this is how late a job can be noticed. */
const SHARED_POLL_MS = 1_000;
const EXCLUSIVE_POLL_MS = 5_000;

/** Claims with the same wishes. */
interface Group {
  /** Whose turn is next first. */
  waiting: Set<Wake>;
  /** The last one that was woken to look, until it has. */
  looking: Wake | undefined;
  ended: AbortController;
}

export interface PollSlot extends Disposable {
  /** What it was woken for is done; it waits on. */
  foundNothing(): void;
}

export class SharedPolling {
  readonly #clock: Clock;
  readonly #everyMs: number;
  readonly #groups = new Map<string, Group>();

  constructor({ exclusive }: Pick<Store, 'exclusive'>, clock: Clock) {
    this.#clock = clock;
    this.#everyMs = exclusive ? EXCLUSIVE_POLL_MS : SHARED_POLL_MS;
  }

  /** For a claim that has found nothing: until disposed, it is woken by `wake` when it is its turn to look. */
  join({ offer, prefetch = false }: ClaimRequest, wake: Wake): PollSlot {
    const wishes = JSON.stringify([offer, prefetch]);
    let group = this.#groups.get(wishes);
    if (group === undefined) {
      group = { waiting: new Set(), looking: undefined, ended: new AbortController() };
      this.#groups.set(wishes, group);
      void this.#takePollSlot(group);
    }
    const joined = group;
    joined.waiting.add(wake);
    return {
      foundNothing: () => {
        if (joined.looking === wake && !wake.fired) joined.looking = undefined;
      },
      [Symbol.dispose]: () => {
        joined.waiting.delete(wake);
        // It has found something, so that there may be more; or it failed, or was given up, and another has to look.
        if (joined.looking === wake) wakeNext(joined);
        if (joined.waiting.size > 0) return;
        joined.ended.abort();
        this.#groups.delete(wishes);
      },
    };
  }

  async #takePollSlot(group: Group): Promise<void> {
    const { signal } = group.ended;
    while (!signal.aborted) {
      await this.#clock.sleep(this.#everyMs, signal);
      wakeNext(group);
    }
  }
}

/** In turn: one whose worker drains finds nothing whatever there is, and must not be the only one that looks. */
function wakeNext(group: Group): void {
  const [next] = group.waiting;
  group.looking = next;
  if (next === undefined) return;
  group.waiting.delete(next);
  group.waiting.add(next);
  next.fire();
}

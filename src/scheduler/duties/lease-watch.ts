/**
 * Watches the clock of the store against the monotonic clock of this process. A clock that was set counts as an outage:
 * the store cannot know by it for how long a worker has been silent.
 */

import type { Watched } from '../../core/lease.ts';
import type { SchedulerContext } from '../context.ts';

/** A worker ends its commands at least a tenth of its lease, or a second, before the lease ends. Half of that may be lost. */
const TOLERANCE_SHARE = 1 / 20;
const MAX_TOLERANCE_MS = 500;
/** The monotonic clock has a resolution of 10 ms. */
const MIN_TOLERANCE_MS = 50;

interface ClockWatchOptions {
  leaseMs: number;
  /** Looks further apart than this do not count as one watch. */
  maxGapMs: number;
}

/** The store's clock less the monotonic one: between these two, because the answer took some time. */
interface Offset {
  min: number;
  max: number;
}

interface Watch {
  since: number;
  offset: Offset;
  /** When `offset` was first measured: it is measured again once per lease, because clocks drift apart. */
  anchoredAt: number;
}

export class ClockWatch {
  readonly #context: Pick<SchedulerContext, 'store' | 'clock' | 'log'>;
  readonly #options: ClockWatchOptions;
  readonly #toleranceMs: number;
  #watch: Watch | undefined;
  #lastLookAt = Number.NEGATIVE_INFINITY;

  constructor(context: Pick<SchedulerContext, 'store' | 'clock' | 'log'>, options: ClockWatchOptions) {
    this.#context = context;
    this.#options = options;
    this.#toleranceMs = Math.max(MIN_TOLERANCE_MS, Math.min(MAX_TOLERANCE_MS, options.leaseMs * TOLERANCE_SHARE));
  }

  /** Ends the watch, for instance after a failed call. The next look begins another. */
  reset(): void {
    this.#watch = undefined;
  }

  /** Looks at the clock. Returns for how long it has run evenly, and the store has answered without a gap. */
  async look(signal: AbortSignal): Promise<Watched> {
    const { store, clock } = this.#context;
    const sentAt = clock.monotonicMs();
    if (sentAt - this.#lastLookAt > this.#options.maxGapMs) this.reset();
    this.#lastLookAt = sentAt;
    let now: number;
    try {
      now = await store.now(signal);
    } catch (error) {
      this.reset();
      throw error;
    }
    const offset = { min: now - clock.monotonicMs(), max: now - sentAt };
    if (this.#watch !== undefined && this.#wasSet(this.#watch, offset)) this.reset();
    if (this.#watch === undefined) {
      this.#watch = { since: now, offset, anchoredAt: sentAt };
      return { since: now, at: now };
    }
    const { since, offset: before, anchoredAt } = this.#watch;
    // By the offset before this look: whatever happened during it, no lease ends too early.
    const at = Math.min(now, Math.floor(sentAt + before.min));
    const isOld = sentAt - anchoredAt > this.#options.leaseMs;
    this.#watch = isOld ? { since, offset, anchoredAt: sentAt } : { since, offset: common(before, offset), anchoredAt };
    return { since, at };
  }

  #wasSet({ offset: before }: Watch, offset: Offset): boolean {
    const jumpMs = offset.min > before.max ? offset.min - before.max : Math.min(0, offset.max - before.min);
    if (Math.abs(jumpMs) <= this.#toleranceMs) return false;
    const { log } = this.#context;
    log.warn({ jump_ms: Math.round(jumpMs) }, 'the clock of the store was set; leases count from now on');
    return true;
  }
}

function common(a: Offset, b: Offset): Offset {
  const both = { min: Math.max(a.min, b.min), max: Math.min(a.max, b.max) };
  return both.min <= both.max ? both : a;
}

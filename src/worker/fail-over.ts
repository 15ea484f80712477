/** Chooses among the schedulers of one installation: the one that answered last, and the next one if that is away. */

import { isWorkronError, type WorkronError } from '../core/error.ts';

interface Attempted<T> {
  /** If there is no answer by then, the request is given up. */
  deadlineMs: number;
  /** Sends the request to the scheduler at this place in the list. */
  send: (place: number, signal: AbortSignal) => Promise<T>;
  /** The error for a request that this scheduler did not answer in time. */
  unanswered: (place: number) => Error;
}

/**
 * Every request of a worker can be sent twice without harm, so one that broke off is sent again, to each scheduler at
 * most once.
 */
export class FailOver {
  readonly #count: number;
  #current = 0;

  /** `count` is the number of schedulers. */
  constructor(count: number) {
    this.#count = count;
  }

  /** The place of the scheduler to ask. */
  get current(): number {
    return this.#current;
  }

  /** Returns the answer. Rejects with the error that a scheduler named, or `unreachable`. */
  async send<T>({ deadlineMs, send, unanswered }: Attempted<T>, signal: AbortSignal): Promise<T> {
    const deadline = AbortSignal.timeout(deadlineMs);
    const either = AbortSignal.any([signal, deadline]);
    // One try more than there are schedulers: the other side may have closed a connection that was kept open.
    for (let tried = 0; ; tried += 1) {
      const place = this.#current;
      try {
        return await send(place, either);
      } catch (error) {
        if (!signal.aborted && isWorkronError(error) && !isAway(error)) throw error;
        // Also if the caller gave up: with a short lease, a heartbeat waits less than the deadline, and the next one must
        // not go to the same frozen scheduler.
        if (this.#current === place) this.#current = (place + 1) % this.#count;
        signal.throwIfAborted();
        if (!deadline.aborted && tried < this.#count) continue;
        throw isWorkronError(error) ? error : unanswered(place);
      }
    }
  }
}

/** True if another scheduler of the installation may be able to answer. */
function isAway({ code }: WorkronError): boolean {
  return code === 'unreachable' || code === 'shutting_down' || code === 'store_unavailable';
}

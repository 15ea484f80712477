/** The calling side of a database in this process: as a thread's, but calls are carried out here, one after the other. */

import type { Clock } from '../../core/clock.ts';
import { WorkronError } from '../../core/error.ts';
import type { TermFence } from '../../core/leadership.ts';
import type { Announcement } from '../hint.ts';
import { decodeFailure } from '../sqlite/base/failure.ts';
import { groupsOn, type Served } from '../sqlite/base/group.ts';
import type { Args, Methods, ThreadAnswer } from '../sqlite/base/protocol.ts';
import { type Calls, fencedCalls, type ThreadCallOptions } from '../sqlite/base/thread.ts';

interface ConnectionOptions {
  served: Served;
  /** The last call of all connections to the database. */
  turn: { last: Promise<unknown> };
  clock: Clock;
  /** Called after the commit, before the caller gets its answer, and in the caller's context. */
  onChanged: (changed: Announcement) => void;
}

export class Connection<M extends Methods> implements Calls<M> {
  readonly health = { hasFailed: false };
  readonly #options: ConnectionOptions;
  readonly #answer: ReturnType<typeof groupsOn>;
  #closed = false;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#answer = groupsOn(options.served);
  }

  fenced(fence: () => TermFence, reads: Partial<M>): Calls<M> {
    return fencedCalls(this, fence, reads);
  }

  /**
   * Nothing but microtasks is between the call and its answer. The arguments are copied, as between threads: what the caller
   * does with them after the call changes nothing.
   */
  async call<K extends keyof M & string>(
    method: K,
    args: Args<M, K>,
    signal: AbortSignal,
    { fence }: ThreadCallOptions = {},
  ): Promise<ReturnType<M[K]>> {
    signal.throwIfAborted();
    if (this.#closed) throw new WorkronError('store_unavailable', 'The store is closed');
    const { turn, clock, onChanged } = this.#options;
    const request = { id: 0, method, now: clock.now(), args: structuredClone(args), ...(fence && { fence }) };
    const answered = turn.last.then(() => this.#answer([request]));
    turn.last = answered;
    const [{ value, failure, changed }] = (await answered) as [ThreadAnswer];
    if (changed !== undefined) onChanged(changed);
    if (failure !== undefined) throw decodeFailure(failure);
    return value as ReturnType<M[K]>;
  }

  /** Earlier calls are answered. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#options.turn.last;
  }
}

/** The worker's registration at the scheduler. */

import type { Clock, Random } from '../../core/clock.ts';
import { isWorkronError } from '../../core/error.ts';
import { NEVER } from '../../core/never.ts';
import type { Log } from '../../ops/log.ts';
import { monotonicMs } from '../../ops/monotonic.ts';
import type { JobSource, Registration, WorkerProfile } from '../job-source.ts';
import { RetryBackoff } from '../time/retry-backoff.ts';
import { within } from '../time/within.ts';

const ANSWER_MS = 10_000;

interface MembershipOptions {
  source: JobSource;
  profile: WorkerProfile;
  clock: Clock;
  random: Random;
  log: Log;
  /** `sentAt` is by the monotonic clock. */
  onRegistered: (sentAt: number) => void;
  /** Called when the next heartbeat should be sent at once. */
  onNudge: () => void;
}

export class Membership {
  readonly #options: MembershipOptions;
  readonly #known = Promise.withResolvers<void>();
  #registration: Registration | undefined;
  #stopNudges: (() => void) | undefined;

  constructor(options: MembershipOptions) {
    this.#options = options;
  }

  /** Resolves once the worker is registered. */
  get known(): Promise<void> {
    return this.#known.promise;
  }

  get isKnown(): boolean {
    return this.#registration !== undefined;
  }

  get current(): Registration {
    if (this.#registration === undefined) throw new Error('not registered');
    return this.#registration;
  }

  /** Tries until it is answered or `signal` aborts. Rejects if the first registration is refused for good. */
  async register(signal: AbortSignal): Promise<void> {
    const { source, profile, clock, random, log, onRegistered, onNudge } = this.#options;
    const backoff = new RetryBackoff(random);
    while (!signal.aborted) {
      const sentAt = monotonicMs();
      try {
        const registration = await within(ANSWER_MS, signal, (inner) => source.register(profile, inner));
        this.#registration = registration;
        this.#known.resolve();
        onRegistered(sentAt);
        this.#stopNudges?.();
        this.#stopNudges = source.onNudge(registration.workerId, onNudge);
        log.info({ worker_id: registration.workerId, slots: profile.slots }, 'worker registered');
        return;
      } catch (error) {
        if (signal.aborted) return;
        // A wrong token, for instance: when the worker starts, someone is there to correct it.
        if (!this.isKnown && isWorkronError(error) && !error.retryable) throw error;
        const waitMs = backoff.failed();
        if (backoff.isNew) log.warn({ error }, 'could not register; retrying');
        await clock.sleep(waitMs, signal);
      }
    }
  }

  /** Deregisters the worker after calling `first`. If either fails, the worker's lease expires by itself. */
  async leave(first?: () => Promise<void>): Promise<void> {
    const { source, log } = this.#options;
    const { workerId } = this.current;
    this.#stopNudges?.();
    try {
      await first?.();
      await within(ANSWER_MS, NEVER, (signal) => source.leave(workerId, signal));
    } catch (error) {
      log.warn({ worker_id: workerId, error }, 'could not deregister; the lease will expire');
    }
    log.info({ worker_id: workerId }, 'worker left');
  }
}

/** Asks for work while there are free slots: one claim at a time, by long poll. */

import type { Clock, Random } from '../../core/clock.ts';
import type { ClaimedJob } from '../../core/job.ts';
import type { Log } from '../../ops/log.ts';
import { Wake } from '../../ops/wake.ts';
import type { JobSource } from '../job-source.ts';
import { RetryBackoff } from '../time/retry-backoff.ts';
import { within } from '../time/within.ts';
import type { ClaimPlan } from './claim-plan.ts';

/** How long an answer may take beyond the wait that was asked for. */
const ANSWER_MS = 10_000;
const MAX_PAUSE_MS = 1_000;

export interface ClaimerOptions {
  source: JobSource;
  clock: Clock;
  random: Random;
  log: Log;
  /** What to ask for; `undefined` while there is no room. */
  request: () => ClaimPlan | undefined;
  /** Takes the jobs over. `false`: they cannot be taken any more, and go back with the next heartbeat. */
  onJobs: (jobs: ClaimedJob[], wish: ClaimPlan) => boolean;
}

export class Claimer {
  readonly #options: ClaimerOptions;
  readonly #patience: RetryBackoff;
  readonly #wake = new Wake();
  #claims = 0;
  #seen = 0;
  #gaveUp = false;
  #current = new AbortController();

  constructor(options: ClaimerOptions) {
    this.#options = options;
    this.#patience = new RetryBackoff(options.random);
  }

  /** The highest claim that was answered or given up: what it handed out and nobody lists can be taken back. */
  get seen(): number {
    return this.#seen;
  }

  /** Whether a claim was given up whose jobs, if there were any, are still to be given back. */
  get gaveUp(): boolean {
    return this.#gaveUp;
  }

  /** There may be room now. */
  nudge(): void {
    this.#wake.fire();
  }

  /** Forgets the claim under way: it was made in a name that does not count any more. */
  giveUp(): void {
    this.#current.abort(new Error('given up'));
  }

  /** Resolves when `signal` aborts. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    signal.addEventListener('abort', () => this.#current.abort(signal.reason), { once: true });
    while (!signal.aborted) {
      this.#wake.reset();
      const request = this.#options.request();
      if (request === undefined) {
        await this.#wake.sleep(clock, MAX_PAUSE_MS, signal);
        continue;
      }
      try {
        await this.#claim(request);
        this.#patience.succeeded();
      } catch (error) {
        if (signal.aborted) return;
        if (this.#current.signal.aborted) continue;
        const waitMs = this.#patience.failed();
        if (this.#patience.isNew) log.warn({ error }, 'a claim failed; trying again');
        await clock.sleep(waitMs, signal);
      }
    }
  }

  /** An answer to a claim that was given up never gets past `within`. */
  async #claim(request: ClaimPlan): Promise<void> {
    const { source, onJobs } = this.#options;
    this.#claims += 1;
    this.#current = new AbortController();
    const current = this.#current.signal;
    const claimSeq = this.#claims;
    let taken = false;
    try {
      const claim = { ...request, claimSeq };
      const jobs = await within(request.waitMs + ANSWER_MS, current, (inner) => source.claim(claim, inner));
      taken = onJobs(jobs, request) || jobs.length === 0;
    } finally {
      this.#seen = claimSeq;
      if (!taken) this.#gaveUp = true;
    }
  }
}

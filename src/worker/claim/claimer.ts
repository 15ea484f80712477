/** Claims jobs while there are free slots: one long poll at a time. */

import type { Clock, Random } from '../../core/clock.ts';
import type { ClaimedJob } from '../../core/job.ts';
import type { Log } from '../../ops/log.ts';
import { Wake } from '../../ops/wake.ts';
import type { JobSource, SourceClaim } from '../job-source.ts';
import { RetryBackoff } from '../time/retry-backoff.ts';
import { within } from '../time/within.ts';
import type { ClaimPlan } from './claim-plan.ts';

/** The time that an answer may take beyond the requested wait. */
const ANSWER_MS = 10_000;
const MAX_PAUSE_MS = 1_000;

interface ClaimerOptions {
  source: JobSource;
  clock: Clock;
  random: Random;
  log: Log;
  /** Returns the next claim; `undefined` while the worker wants no jobs. */
  request: () => ClaimPlan | undefined;
  /** Takes the jobs over. Returns false if they cannot be taken any more; they are returned by the next heartbeat. */
  onJobs: (jobs: ClaimedJob[], plan: ClaimPlan) => boolean;
  /** True if the worker can offer more than this claim did, so that it should not wait any longer. */
  isOutdated: (plan: ClaimPlan) => boolean;
}

export class Claimer {
  readonly #options: ClaimerOptions;
  readonly #backoff: RetryBackoff;
  readonly #wake = new Wake();
  #claims = 0;
  #lastAnswered = 0;
  #gaveUp = false;
  #current = new AbortController();
  /** The claim under way, until its wait is ended. */
  #open: SourceClaim | undefined;

  constructor(options: ClaimerOptions) {
    this.#options = options;
    this.#backoff = new RetryBackoff(options.random);
  }

  /**
   * The highest claim number that was answered or given up. Jobs of these claims that a heartbeat does not list go back to
   * their queues.
   */
  get lastAnsweredClaim(): number {
    return this.#lastAnswered;
  }

  /** True if a claim was given up. Its jobs, if any, are still to be returned by a heartbeat. */
  get gaveUp(): boolean {
    return this.#gaveUp;
  }

  /** Claims again without waiting, because the worker may want jobs now. */
  wake(): void {
    this.#wake.fire();
    if (this.#open !== undefined && this.#options.isOutdated(this.#open)) this.#endWait(this.#open);
  }

  /** Gives up the claim under way, which was made under an old worker id. */
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
        this.#backoff.succeeded();
      } catch (error) {
        if (signal.aborted) return;
        if (this.#current.signal.aborted) continue;
        const waitMs = this.#backoff.failed();
        if (this.#backoff.isNew) log.warn({ error }, 'claim failed; retrying');
        await clock.sleep(waitMs, signal);
      }
    }
  }

  /** Resources became free, which the claim under way does not offer. If the call is lost, its wait is short anyway. */
  #endWait({ workerId, claimSeq }: SourceClaim): void {
    const { source, log } = this.#options;
    this.#open = undefined;
    const ended = within(ANSWER_MS, this.#current.signal, (inner) => source.endWait(workerId, claimSeq, inner));
    ended.catch((error: unknown) => log.debug({ error, claim_seq: claimSeq }, 'could not end the wait of a claim'));
  }

  /** Makes one claim. `within` drops the answer to a claim that was given up. */
  async #claim(request: ClaimPlan): Promise<void> {
    const { source, onJobs } = this.#options;
    this.#claims += 1;
    this.#current = new AbortController();
    const current = this.#current.signal;
    const claimSeq = this.#claims;
    let taken = false;
    try {
      const claim = { ...request, claimSeq };
      if (request.waitMs > 0) this.#open = claim;
      const jobs = await within(request.waitMs + ANSWER_MS, current, (inner) => source.claim(claim, inner));
      taken = onJobs(jobs, request) || jobs.length === 0;
    } finally {
      this.#open = undefined;
      this.#lastAnswered = claimSeq;
      if (!taken) this.#gaveUp = true;
    }
  }
}

/**
 * Inserts new jobs. Single submits that arrive together share a transaction; none waits for another or fails with it.
 */

import { isWorkronError } from '../../core/error.ts';
import type { NewJob } from '../../core/job.ts';
import { Batcher } from '../../ops/batcher.ts';
import type { Inserted, JobInsertOptions } from '../../store/job-store.ts';
import type { SchedulerContext } from '../context.ts';
import { sealJobs } from '../secrets/sealing.ts';

/** Larger submits get a transaction of their own. */
const BATCHED_SIZE = 100;

export class Submitter {
  readonly #context: SchedulerContext;
  readonly #batcher: Batcher<readonly NewJob[], Inserted>;

  constructor(context: SchedulerContext) {
    this.#context = context;
    this.#batcher = new Batcher({
      send: (submits, signal) => this.#insertTogether(submits, signal),
      maxBatch: 1_000,
      maxWaiting: 20_000,
      // An invalid row must not fail the other submits; an unavailable store fails all of them.
      splits: (error) => !isWorkronError(error) || !error.retryable,
    });
  }

  /** Inserts all jobs or none, in order. Resolves once they are on disk. */
  async submit(given: readonly NewJob[], options: JobInsertOptions, signal: AbortSignal): Promise<Inserted> {
    const jobs = sealJobs(given, await this.#context.sealing.seal());
    if (this.#mayShare(jobs, options)) return await this.#batcher.add(jobs, signal);
    const inserted = await this.#context.store.insert(jobs, options, signal);
    if (!inserted.replayed) this.#context.telemetry.submitted(inserted.items);
    return inserted;
  }

  /** True if the jobs may share a transaction with others: none of their rows can wait for another transaction's lock. */
  #mayShare(jobs: readonly NewJob[], options: JobInsertOptions): boolean {
    return (
      options.idempotency === undefined &&
      options.rerunOf === undefined &&
      jobs.length <= BATCHED_SIZE &&
      jobs.every(({ unique, dependsOn }) => unique === null && dependsOn.length === 0)
    );
  }

  /**
   * Inserts the jobs. If a worker of this process waits for such jobs, they are claimed for it in the same transaction.
   */
  async #insert(jobs: readonly NewJob[], signal: AbortSignal): Promise<Inserted['items']> {
    const { store, idle } = this.#context;
    const [first] = jobs;
    const handed =
      first === undefined ? undefined : idle.give(first, (request) => store.insertAndClaim(jobs, request, signal));
    const { items } = await (handed ?? store.insert(jobs, {}, signal));
    return items;
  }

  async #insertTogether(submits: readonly (readonly NewJob[])[], signal: AbortSignal): Promise<Inserted[]> {
    const items = await this.#insert(submits.flat(), signal);
    this.#context.telemetry.submitted(items);
    let start = 0;
    return submits.map((jobs) => {
      const mine = items.slice(start, start + jobs.length);
      start += jobs.length;
      return { items: mine, replayed: false };
    });
  }
}

/**
 * Reports outcomes. Outcomes that arrive while a report is under way are sent together in the next one; those that
 * cannot be delivered are kept and sent again.
 */

import type { Clock, Random } from '../../core/clock.ts';
import type { WorkronError } from '../../core/error.ts';
import type { Outcome, Settlement, SettleResult } from '../../core/outcome.ts';
import type { Log } from '../../ops/log.ts';
import type { JobSource } from '../job-source.ts';
import { isRefusal } from '../refusal.ts';
import type { Assignment } from '../run/assignment.ts';
import { RetryBackoff } from '../time/retry-backoff.ts';
import { within } from '../time/within.ts';

const MAX_PER_CALL = 1_000;
const ANSWER_MS = 15_000;

interface SettlerOptions {
  source: JobSource;
  clock: Clock;
  random: Random;
  log: Log;
  /** Called once for each attempt, when it was settled or given up. */
  onSettled: (assignment: Assignment) => void;
}

interface Report {
  assignment: Assignment;
  settlement: Settlement;
}

export class Settler {
  readonly #options: SettlerOptions;
  readonly #backoff: RetryBackoff;
  readonly #givenUp = new AbortController();
  #waiting: Report[] = [];
  #sending = false;

  constructor(options: SettlerOptions) {
    this.#options = options;
    this.#backoff = new RetryBackoff(options.random);
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  add(assignment: Assignment, outcome: Outcome): void {
    const { jobId, attempt, workerId, startedAt, startReported } = assignment;
    // Each form in one literal: a property that is added later costs as much as the object.
    const settlement: Settlement =
      startReported || startedAt === null
        ? { jobId, attempt, workerId, outcome }
        : { jobId, attempt, workerId, outcome, startedAt };
    this.#waiting.push({ assignment, settlement });
    if (this.#sending) return;
    this.#sending = true;
    // Outcomes of one turn of the event loop are sent together, and after the claim for the slots that have become free.
    setImmediate(() => void this.#sendAll());
  }

  /** True if outcomes were dropped. */
  get gaveUp(): boolean {
    return this.#givenUp.signal.aborted;
  }

  /** Drops all outcomes, because no scheduler can be reached any more. */
  giveUp(): void {
    this.#givenUp.abort(new Error('given up'));
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const reports = this.#waiting.splice(0, MAX_PER_CALL);
      await this.#send(reports);
    }
    this.#sending = false;
  }

  async #send(reports: readonly Report[]): Promise<void> {
    const { source, clock, log } = this.#options;
    const signal = this.#givenUp.signal;
    let open = reports;
    for (;;) {
      if (signal.aborted || open.some(({ assignment }) => assignment.lost)) open = this.#withoutLost(open);
      if (open.length === 0) return;
      try {
        const settlements = open.map((report) => report.settlement);
        const results = await within(ANSWER_MS, signal, (inner) => source.settle(settlements, inner));
        this.#backoff.succeeded();
        open.forEach((report, index) => this.#answered(report, results[index] ?? 'invalid'));
        return;
      } catch (error) {
        if (signal.aborted) continue;
        if (isRefusal(error)) return this.#isolate(open, error);
        const waitMs = this.#backoff.failed();
        if (this.#backoff.isNew) log.warn({ error, outcomes: open.length }, 'could not report outcomes; retrying');
        await clock.sleep(waitMs, signal);
      }
    }
  }

  /** Halves a refused batch until the bad outcome is alone, so that it does not fail the others. */
  async #isolate(reports: readonly Report[], error: WorkronError): Promise<void> {
    const [first] = reports;
    if (reports.length > 1) {
      const middle = reports.length >> 1;
      await this.#send(reports.slice(0, middle));
      await this.#send(reports.slice(middle));
    } else if (first !== undefined) {
      this.#options.log.error({ job_id: first.settlement.jobId, error }, 'outcome was refused');
      const gone = error.code === 'worker_not_found' || error.code === 'lease_lost';
      this.#answered(first, gone ? 'lease_lost' : 'invalid');
    }
  }

  #answered({ assignment, settlement }: Report, result: SettleResult): void {
    const { log, onSettled } = this.#options;
    const { jobId, attempt, outcome } = settlement;
    if (result === 'invalid' && outcome.type !== 'failed') {
      // Without an outcome the job would be returned and run again, over and over.
      const error = `it ended (${outcome.type}), but the scheduler refused its outcome`;
      return this.add(assignment, { type: 'failed', exitCode: null, signal: null, error });
    }
    if (result === 'invalid' && outcome.type === 'failed' && outcome.thrown !== undefined) {
      // A scheduler of another version may have other limits; whether the job is retried does not depend on it.
      const { thrown: _, ...failure } = outcome;
      return this.add(assignment, failure);
    }
    if (result !== 'ok') log.warn({ job_id: jobId, attempt, outcome: outcome.type, result }, 'outcome was too late');
    onSettled(assignment);
  }

  #withoutLost(reports: readonly Report[]): Report[] {
    return reports.filter((report) => {
      const wanted = !report.assignment.lost && !this.#givenUp.signal.aborted;
      if (!wanted) this.#drop(report);
      return wanted;
    });
  }

  #drop({ assignment, settlement }: Report): void {
    const { jobId, attempt, outcome } = settlement;
    this.#options.log.warn({ job_id: jobId, attempt, outcome: outcome.type }, 'outcome was dropped: its lease is lost');
    this.#options.onSettled(assignment);
  }
}

/** Writes the steps of functions, each before its function goes on. A write that is not answered is sent again. */

import type { Clock, Random } from '../../core/clock.ts';
import {
  MAX_STEP_BYTES,
  MAX_STEPS,
  MAX_STEPS_BYTES,
  type Step,
  type StepRefusal,
  type StepsPage,
  type StepWrite,
} from '../../core/durable.ts';
import { isWorkronError } from '../../core/error.ts';
import { Fatal, StepChanged, Stopped } from '../../core/handler-errors.ts';
import { NEVER } from '../../core/never.ts';
import type { Log } from '../../ops/log.ts';
import type { JobSource } from '../job-source.ts';
import { isRefusal } from '../refusal.ts';
import type { Assignment } from '../run/assignment.ts';
import { RetryBackoff } from '../time/retry-backoff.ts';
import { within } from '../time/within.ts';
import { maskThrown } from './mask-job.ts';

const ANSWER_MS = 15_000;

/** What a function has to say about a step; the rest is known of its attempt. */
export type StepDraft = Omit<StepWrite, 'jobId' | 'attempt' | 'workerId' | 'seal'>;

interface StepWriterOptions {
  source: JobSource;
  clock: Clock;
  random: Random;
  log: Log;
}

export class StepWriter {
  readonly #options: StepWriterOptions;

  constructor(options: StepWriterOptions) {
    this.#options = options;
  }

  /** Rejects with a `Stopped` if the attempt is no longer this worker's. */
  async write(assignment: Assignment, draft: StepDraft): Promise<Step> {
    const { jobId, attempt, workerId, job } = assignment;
    const thrown = draft.thrown === null ? null : maskThrown(job, draft.thrown);
    const write = { ...draft, thrown, jobId, attempt, workerId, ...(job.sealInput && { seal: true }) };
    const [written] = await this.#ask(assignment, (signal) => this.#options.source.writeSteps([write], signal));
    if (written === undefined) throw new Error('a write of a step was not answered');
    if ('step' in written) return written.step;
    throw refusal(written.refused, draft.name, jobId);
  }

  read(assignment: Assignment, after: number): Promise<StepsPage> {
    const { jobId, attempt, workerId } = assignment;
    return this.#ask(assignment, (signal) =>
      this.#options.source.readSteps({ jobId, attempt, workerId, after }, signal),
    );
  }

  async noteUnused(assignment: Assignment, names: readonly string[]): Promise<void> {
    const { jobId, attempt, workerId } = assignment;
    await this.#ask(assignment, (signal) =>
      this.#options.source.noteUnused({ jobId, attempt, workerId, names }, signal),
    );
  }

  /** Asks until there is an answer, or the attempt is over. */
  async #ask<T>(assignment: Assignment, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { clock, random, log } = this.#options;
    const backoff = new RetryBackoff(random);
    for (;;) {
      if (assignment.lost || assignment.ended) throw lost(assignment.jobId);
      try {
        return await within(ANSWER_MS, NEVER, call);
      } catch (error) {
        if (isWorkronError(error, 'lease_lost')) throw lost(assignment.jobId);
        if (isRefusal(error)) throw new Fatal(error.message, { cause: error });
        const waitMs = backoff.failed();
        if (backoff.isNew) log.warn({ job_id: assignment.jobId, error }, 'could not write a step; retrying');
        await clock.sleep(waitMs, NEVER);
      }
    }
  }
}

function lost(jobId: number): Stopped {
  return new Stopped('lost', `job ${jobId} is no longer this worker's`);
}

function refusal(why: StepRefusal, name: string, jobId: number): Error {
  switch (why) {
    case 'lease_lost':
      return lost(jobId);
    case 'changed':
      return new StepChanged(name, 'the name stands for another kind of call');
    case 'too_many':
      return new Fatal(`step ${name}: a job may have at most ${MAX_STEPS} steps`, { code: 'too_many_steps' });
    case 'too_large':
      return new Fatal(
        `step ${name}: a result may have at most ${MAX_STEP_BYTES} bytes, and the results of a job ${MAX_STEPS_BYTES}`,
        { code: 'payload_too_large' },
      );
  }
}

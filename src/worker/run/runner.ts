/** Runs jobs in slots, each from its start until nothing of it is left. */

import type { ClaimedJob } from '../../core/job.ts';
import type { Outcome } from '../../core/outcome.ts';
import type { Log } from '../../ops/log.ts';
import type { WorkerProfile } from '../job-source.ts';
import { maskOutcome } from '../report/mask-job.ts';
import type { Assignment } from './assignment.ts';
import { Slots } from './slots.ts';
import { textOfThrown } from './thrown.ts';

/** Runs one kind of job: commands or handlers. */
export interface Executor {
  /**
   * Runs the attempt to its end, or until it is stopped. A failure is an answer, not a rejection. All output has been
   * written, or given up, when it answers.
   */
  run(assignment: Assignment): Outcome | Promise<Outcome>;
}

interface RunnerOptions {
  profile: Pick<WorkerProfile, 'slots' | 'resources'>;
  handlers: Executor;
  log: Log;
  onHandler: (job: ClaimedJob) => void;
  onOutcome: (assignment: Assignment, outcome: Outcome) => void;
  /** Called when a slot has become free, unless the attempt ended within the call of `run`. */
  onFree: () => void;
}

export class Runner {
  readonly slots: Slots;
  /** Runs commands; `null` if this worker does not, or not yet. */
  commands: Executor | null = null;
  readonly #options: RunnerOptions;
  /** Attempts that have a slot and have begun. Lost ones may still be stopping. */
  readonly #running = new Set<Assignment>();
  /** The latest attempt of each job that has a slot. */
  readonly #latest = new Map<number, Assignment>();
  /** The attempts whose start is reported by the heartbeat under way. */
  #reporting: Assignment[] = [];
  #interrupted = false;
  #stuckSlots = 0;

  constructor(options: RunnerOptions) {
    this.#options = options;
    this.slots = new Slots(options.profile);
  }

  /** Slots held by handlers whose attempt was settled without them. */
  get stuckSlots(): number {
    return this.#stuckSlots;
  }

  /** True if all running attempts have reported their outcome. */
  get isIdle(): boolean {
    return this.#running.values().every(({ ended }) => ended);
  }

  /** The longest time that a running handler may take. */
  get longestHandlerMs(): number {
    const handlers = this.#running.values().filter(({ ended, job }) => !ended && job.command === null);
    return handlers.reduce((longest, { job }) => Math.max(longest, longestMsOf(job)), 0);
  }

  /**
   * Starts the attempt in a slot. If it ends within this call, its slot is free on return and the caller fills it: calling
   * `onFree` from here would be a circle, which V8 compiles again from each of its functions.
   */
  run(assignment: Assignment): void {
    this.slots.take(assignment.job);
    const earlier = this.#latest.get(assignment.jobId);
    if (earlier === undefined || earlier.ended) return this.#start(assignment);
    // Nothing of an earlier attempt may be left when the next one starts.
    this.#latest.set(assignment.jobId, assignment);
    earlier.afterwards = () => this.#start(assignment);
  }

  /** Stops running attempts, and returns those that would start. */
  interrupt(): void {
    this.#interrupted = true;
    for (const assignment of this.#running.values()) assignment.stop('interrupted');
  }

  /** Stops the attempts that may not run without contact to the scheduler. */
  cutOff(): void {
    for (const assignment of this.#running.values()) {
      if (assignment.stopped !== null || assignment.ended || assignment.job.onDisconnect === 'finish') continue;
      const { jobId } = assignment;
      this.#options.log.warn({ job_id: jobId }, 'lost contact; stopping the job before its lease expires');
      assignment.stop('cut_off');
    }
  }

  /** The attempts whose start was not reported yet. */
  unreportedStarts(): { jobId: number; attempt: number; startedAt: number }[] {
    this.#reporting = [...this.#running.values()].filter(({ startReported, ended }) => !startReported && !ended);
    return this.#reporting.flatMap(({ jobId, attempt, startedAt }) =>
      startedAt === null ? [] : [{ jobId, attempt, startedAt }],
    );
  }

  /** Records that the starts in the last heartbeat were received. */
  startsReported(): void {
    for (const assignment of this.#reporting) assignment.startReported = assignment.startedAt !== null;
  }

  #start(assignment: Assignment): void {
    const { job } = assignment;
    if (this.#interrupted) assignment.stop('interrupted');
    const executor = job.command === null ? this.#options.handlers : this.commands;
    if (assignment.stopped !== null || executor === null) return this.#end(assignment, { type: 'returned' });
    if (job.command === null) this.#options.onHandler(job);
    assignment.begin(performance.now());
    const outcome = executor.run(assignment);
    // What ends within this call need not be found by others: keeping it would cost more than running it.
    if (!(outcome instanceof Promise)) return this.#end(assignment, outcome);
    this.#keep(assignment);
    outcome.then(
      (value) => this.#finish(assignment, value),
      (error: unknown) => {
        const text = `worker error: ${textOfThrown(error)}`;
        this.#options.log.error({ job_id: job.id, error: text }, 'unexpected error while running a job');
        this.#finish(assignment, { type: 'failed', exitCode: null, signal: null, error: text });
      },
    );
  }

  #keep(assignment: Assignment): void {
    this.#running.add(assignment);
    this.#latest.set(assignment.jobId, assignment);
    // The handler itself may have asked for it.
    if (this.#interrupted) assignment.stop('interrupted');
  }

  /** Ends an attempt within the call that starts it. */
  #end(assignment: Assignment, outcome: Outcome): void {
    this.#report(assignment, outcome);
    this.#leave(assignment);
  }

  /** Ends an attempt later. */
  #finish(assignment: Assignment, outcome: Outcome): void {
    this.#report(assignment, outcome);
    const { stillBusy } = assignment;
    if (stillBusy === undefined) return this.#free(assignment);
    this.#stuckSlots += 1;
    void stillBusy.finally(() => {
      this.#stuckSlots -= 1;
      this.#free(assignment);
    });
  }

  #report(assignment: Assignment, outcome: Outcome): void {
    assignment.ended = true;
    this.#options.onOutcome(assignment, maskOutcome(assignment.job, outcome));
  }

  #free(assignment: Assignment): void {
    this.#leave(assignment);
    this.#options.onFree();
  }

  #leave(assignment: Assignment): void {
    this.#running.delete(assignment);
    if (this.#latest.get(assignment.jobId) === assignment) this.#latest.delete(assignment.jobId);
    this.slots.giveBack(assignment.job);
    assignment.afterwards?.();
  }
}

/** How long one attempt may take, including the time to stop. */
export function longestMsOf({ timeoutMs, killGraceMs }: ClaimedJob): number {
  return timeoutMs + killGraceMs;
}

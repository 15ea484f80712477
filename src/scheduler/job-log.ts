/** Log lines about jobs: ends other than success at `info`, all else at `debug`. A line that is not logged costs nothing. */

import type { ClaimedJob, Job } from '../core/job.ts';
import type { Change } from '../core/transition.ts';
import type { Log } from '../ops/log.ts';

/** Outcomes of an attempt after which the job runs again, and which are worth a look. */
const TROUBLE: readonly string[] = ['failed', 'timeout', 'lost'];

const MAX_ERROR_LENGTH = 300;

export class JobLog {
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  /** False if debug lines are dropped. */
  get isVerbose(): boolean {
    return this.#log.isLevelEnabled?.('debug') ?? true;
  }

  /** True if jobs are read for debug lines: only for a log that is known to write them. */
  get isReadFor(): boolean {
    return this.#log.isLevelEnabled?.('debug') === true;
  }

  submitted(jobs: Iterable<Job>): void {
    if (!this.isVerbose) return;
    for (const job of jobs) this.#log.debug({ ...subject(job), status: job.status }, 'job submitted');
  }

  /** Jobs that are counted and not read: items of a group, runs of schedules. */
  submittedTogether(about: object): void {
    if (this.isVerbose) this.#log.debug(about, 'jobs submitted');
  }

  claimed(jobs: readonly ClaimedJob[], workerId: number): void {
    if (!this.isVerbose) return;
    for (const { id, attempt, queue, name, handler, prefetched } of jobs) {
      const about = { job_id: id, attempt, queue, name, handler, worker_id: workerId };
      this.#log.debug(about, prefetched ? 'job claimed ahead of its start' : 'job started');
    }
  }

  returned(jobs: readonly Job[]): void {
    if (!this.isVerbose) return;
    for (const job of jobs) this.#log.debug(subject(job), 'claim returned: its worker does not have the job');
  }

  /** `after` is the job as the change has left it. */
  changed(before: Job, after: Job, change: Change): void {
    switch (change.kind) {
      case 'end':
        return this.ended(after, change.record === null ? null : before.startedAt);
      case 'requeue': {
        const { outcome, error, exitCode: exit_code, signal } = change.record;
        const isTrouble = TROUBLE.includes(outcome);
        if (!isTrouble && !this.isVerbose) return;
        const ended = { outcome, exit_code, signal, error: shortened(error) };
        const next = { failures: after.failures, max_attempts: after.maxAttempts, retry_in_ms: change.delayMs };
        this.#log[isTrouble ? 'info' : 'debug'](
          { ...subject(before), worker_id: before.workerId, ...ended, ...next },
          isTrouble ? 'attempt failed; the job will run again' : 'attempt ended; the job will run again',
        );
        return;
      }
      case 'hold':
        if (this.isVerbose) this.#log.debug(subject(after), 'member succeeded; its gang goes on');
        return;
      case 'flag':
        if (this.isVerbose) this.#log.debug({ ...subject(after), worker_id: after.workerId }, 'job asked to stop');
        return;
      case 'reopen':
        if (this.isVerbose) this.#log.debug({ ...subject(after), was: before.status }, 'job reopened by a retry');
    }
  }

  /** `startedAt` is the start of the attempt that ended the job; `null` if none did. */
  ended(job: Job, startedAt: number | null): void {
    const isDone = job.status === 'done';
    if (isDone && !this.isVerbose) return;
    const attempt =
      startedAt === null
        ? {}
        : { worker_id: job.workerId, duration_ms: Math.max(0, (job.doneAt ?? startedAt) - startedAt) };
    const { reason, exitCode: exit_code, signal } = job;
    this.#log[isDone ? 'debug' : 'info'](
      { ...subject(job), ...attempt, reason, exit_code, signal, error: shortened(job.error) },
      `job ${job.status}`,
    );
  }
}

function subject({ id, attempt, queue, name, handler, workflowId, stepKey }: Job) {
  const step = workflowId === null ? {} : { workflow_id: workflowId, step: stepKey };
  return { job_id: id, attempt, queue, name, handler, ...step };
}

function shortened(error: string | null): string | null {
  return error === null ? null : (error.split('\n', 1)[0] ?? '').slice(0, MAX_ERROR_LENGTH);
}

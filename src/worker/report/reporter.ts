/**
 * Reports progress: the latest of each attempt, many in one call. Checkpoints are written before the handler goes on.
 */

import type { CheckpointContent } from '../../core/checkpoint.ts';
import { Stopped } from '../../core/handler-errors.ts';
import type { Progress } from '../../core/job.ts';
import type { Report } from '../../core/lease.ts';
import { NEVER } from '../../core/never.ts';
import type { Log } from '../../ops/log.ts';
import type { JobSource } from '../job-source.ts';
import type { Assignment } from '../run/assignment.ts';
import { transferMs } from '../time/transfer-ms.ts';
import { within } from '../time/within.ts';
import { maskProgress } from './mask-job.ts';

const EVERY_MS = 200;
const ANSWER_MS = 15_000;
const MAX_AT_ONCE = 500;

export class Reporter {
  readonly #source: JobSource;
  readonly #log: Log;
  readonly #latest = new Map<Assignment, Progress>();
  /** The call that each attempt's progress is in, until it is answered. */
  readonly #sending = new Map<Assignment, Promise<void>>();
  #timer: NodeJS.Timeout | undefined;

  constructor(source: JobSource, log: Log) {
    this.#source = source;
    this.#log = log;
  }

  /** Sent soon. Newer progress replaces progress that was not sent yet. */
  progress(assignment: Assignment, progress: Progress): void {
    this.#latest.set(assignment, maskProgress(assignment.job, progress));
    this.#timer ??= setTimeout(() => void this.#flush([...this.#latest.keys()]), EVERY_MS);
  }

  /** Sends the last progress of an attempt that ends. Resolves once all of it was answered: after the end it is refused. */
  async end(assignment: Assignment): Promise<void> {
    await this.#sending.get(assignment);
    if (this.#latest.has(assignment)) await this.#flush([assignment]);
  }

  /** Resolves once the checkpoint is on disk; rejects if the attempt is no longer this worker's. */
  async checkpoint({ jobId, attempt, workerId }: Assignment, content: CheckpointContent): Promise<void> {
    const { kind, bytes } = content;
    const checkpoint = { jobId, attempt, workerId, kind, bytes, chunks: () => content.chunks() };
    const held = await within(transferMs(bytes), NEVER, (signal) => this.#source.writeCheckpoint(checkpoint, signal));
    if (!held) throw new Stopped('lost', `job ${jobId} is no longer this worker's`);
  }

  /** The last complete checkpoint; `null`: none. */
  lastCheckpoint({ jobId }: Assignment, signal: AbortSignal): Promise<CheckpointContent | null> {
    return within(ANSWER_MS, signal, (inner) => this.#source.checkpoint(jobId, inner));
  }

  async #flush(assignments: readonly Assignment[]): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const batch = assignments.slice(0, MAX_AT_ONCE);
    const reports = batch.flatMap((assignment) => {
      const progress = this.#latest.get(assignment);
      this.#latest.delete(assignment);
      const { jobId, attempt, workerId } = assignment;
      return progress === undefined ? [] : [{ jobId, attempt, workerId, progress }];
    });
    if (this.#latest.size > 0) {
      this.#timer = setTimeout(() => void this.#flush([...this.#latest.keys()]), EVERY_MS);
    }
    const sending = this.#send(reports);
    for (const assignment of batch) this.#sending.set(assignment, sending);
    await sending;
    for (const assignment of batch) {
      if (this.#sending.get(assignment) === sending) this.#sending.delete(assignment);
    }
  }

  async #send(reports: readonly Report[]): Promise<void> {
    try {
      await within(ANSWER_MS, NEVER, (signal) => this.#source.report(reports, signal));
    } catch (error) {
      // Progress is lossy: newer progress replaces it.
      this.#log.debug({ error }, 'could not write progress');
    }
  }
}

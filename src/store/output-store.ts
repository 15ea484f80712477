/** What attempts print and report: output, progress, checkpoints. */

import type { Report } from '../core/lease.ts';
import type { LogChunk, LogPiece } from '../core/output.ts';

export interface OutputStore {
  /**
   * Stores output of attempts that are still held by this worker; the same offset twice is stored once. Of each attempt the
   * first and last `LOG_HALF_BYTES` are kept, to the nearest chunk. Answers, in order, whether the attempt was still held.
   */
  appendLogs(chunks: readonly LogChunk[], signal: AbortSignal): Promise<boolean[]>;

  /** Chunks of one attempt with an end beyond `from`, by offset, about `maxBytes` at most (always one if there is one). */
  readLog(
    request: { jobId: number; attempt: number; from: number; maxBytes: number },
    signal: AbortSignal,
  ): Promise<LogPiece[]>;

  /**
   * Stores what attempts tell of themselves, if they are still held by this worker; each job at most once in a call. Answers,
   * in order, whether they were. A checkpoint stays until another is written, also for later attempts.
   */
  report(reports: readonly Report[], signal: AbortSignal): Promise<boolean[]>;

  /** The last checkpoint of any attempt; `null`: none. */
  checkpoint(jobId: number, signal: AbortSignal): Promise<unknown>;
}

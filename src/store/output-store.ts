/** Output, progress and checkpoints of attempts. */

import type { Report } from '../core/lease.ts';
import type { LogChunk, LogPiece } from '../core/output.ts';

export interface OutputStore {
  /**
   * Stores output of attempts that this worker still holds; the same offset is stored once. Of each attempt the first and
   * last `LOG_HALF_BYTES` are kept, to the nearest chunk. Returns, in order, whether the attempt was still held.
   */
  appendLogs(chunks: readonly LogChunk[], signal: AbortSignal): Promise<boolean[]>;

  /** Returns chunks of one attempt that end beyond `from`, by offset, about `maxBytes` at most (but at least one, if any). */
  readLog(
    request: { jobId: number; attempt: number; from: number; maxBytes: number },
    signal: AbortSignal,
  ): Promise<LogPiece[]>;

  /**
   * Stores progress and checkpoints of attempts that this worker still holds; each job at most once in a call. Returns, in
   * order, whether the attempt was still held. A checkpoint stays until another is written, also for later attempts.
   */
  report(reports: readonly Report[], signal: AbortSignal): Promise<boolean[]>;

  /** Returns the last checkpoint of any attempt, or `null`. */
  checkpoint(jobId: number, signal: AbortSignal): Promise<unknown>;
}

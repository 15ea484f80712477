/** Output, progress and checkpoints of attempts. */

import type { CheckpointInfo, CheckpointPiece, PieceWritten } from '../core/checkpoint.ts';
import type { Report } from '../core/lease.ts';
import type { LogChunk, LogPiece } from '../core/output.ts';

export interface StoredCheckpoint extends CheckpointInfo {
  upload: number;
}

export interface OutputStore {
  /**
   * Stores output of attempts that this worker still holds, or has `completed`; the same offset is stored once. Of each attempt the first and
   * last `LOG_HALF_BYTES` are kept, to the nearest chunk, each with the time at which it arrived. Returns, in order, whether
   * it was accepted.
   */
  appendLogs(chunks: readonly LogChunk[], signal: AbortSignal): Promise<boolean[]>;

  /** Returns chunks of one attempt that end beyond `from`, by offset, about `maxBytes` at most (but at least one, if any). */
  readLog(
    request: { jobId: number; attempt: number; from: number; maxBytes: number },
    signal: AbortSignal,
  ): Promise<LogPiece[]>;

  /**
   * Stores the progress of attempts that this worker still holds, or has `completed`; each job at most once in a call.
   * Returns, in order, whether it was accepted.
   */
  report(reports: readonly Report[], signal: AbortSignal): Promise<boolean[]>;

  /**
   * Stores a piece of a checkpoint, if the worker still holds the attempt. No reader sees the pieces before the last one:
   * that replaces the checkpoint of the job as a whole, and it stays until another is complete, also for later attempts.
   * The first piece of an upload drops the pieces of those that were broken off.
   */
  writeCheckpoint(piece: CheckpointPiece, signal: AbortSignal): Promise<PieceWritten>;

  /** Returns the last complete checkpoint of any attempt, or `null`. */
  checkpoint(jobId: number, signal: AbortSignal): Promise<StoredCheckpoint | null>;

  /** Returns the piece of a complete checkpoint that begins at `offset`; `null` if a newer checkpoint has replaced it. */
  readCheckpoint(
    request: { jobId: number; upload: number; offset: number },
    signal: AbortSignal,
  ): Promise<Uint8Array | null>;
}

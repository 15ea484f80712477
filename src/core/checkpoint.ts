/** Checkpoints: bytes that an attempt stores so that the next one can continue from them. */

import type { LeaseRef } from './lease.ts';

export const MAX_CHECKPOINT_BYTES = 64 * 1024 * 1024;
/** Longer checkpoints are stored in several pieces. */
export const CHECKPOINT_PIECE_BYTES = 1024 * 1024;

/** `json`: a value of a handler, as JSON text. `bytes`: whatever a command has written. */
export type CheckpointKind = 'bytes' | 'json';

/** The last complete checkpoint of a job. */
export interface CheckpointInfo {
  kind: CheckpointKind;
  bytes: number;
  /** The attempt that wrote it. */
  attempt: number;
  writtenAt: number;
}

/** A checkpoint that can be read, and sent again if sending it breaks off. */
export interface CheckpointContent {
  kind: CheckpointKind;
  bytes: number;
  /** Rejects if the content can no longer be read as it was. */
  readonly chunks: () => AsyncIterable<Uint8Array>;
}

/** A checkpoint of an attempt, with the fence that it must still match. */
export interface NewCheckpoint extends CheckpointContent, LeaseRef {
  workerId: number;
}

export interface CheckpointPiece extends LeaseRef {
  workerId: number;
  /** Pieces with the same number belong together. */
  upload: number;
  offset: number;
  data: Uint8Array;
  /** The last piece: from now on the checkpoint is the one to continue from. `null` for all others. */
  complete: { kind: CheckpointKind } | null;
}

/** `incomplete`: pieces are missing, because another upload began meanwhile. */
export type PieceWritten = 'ok' | 'lease_lost' | 'incomplete';

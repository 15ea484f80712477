/** The output of an attempt, in chunks by byte offset. */

import type { LeaseRef } from './lease.ts';

/** The number of bytes kept from the beginning and from the end of an attempt's output. */
export const LOG_HALF_BYTES = 5 * 1024 * 1024;

export interface LogChunk extends LeaseRef {
  workerId: number;
  /** Accepted also if the attempt has ended the job as done: it did so in a transaction, and its handler goes on. */
  completed?: boolean;
  offset: number;
  data: Uint8Array;
}

export interface LogPiece {
  offset: number;
  data: Uint8Array;
  /** When the store received it. */
  receivedAt: number;
}

/** How much a store writes to see whether it can take jobs again. */
export const PROBE_BYTES = 262_144;

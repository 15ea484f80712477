/** Checkpoints: written in pieces, so that no process holds a large one in memory. */

import {
  CHECKPOINT_PIECE_BYTES,
  type CheckpointContent,
  type CheckpointInfo,
  type CheckpointPiece,
  MAX_CHECKPOINT_BYTES,
  type NewCheckpoint,
} from '../../core/checkpoint.ts';
import { WorkronError } from '../../core/error.ts';
import type { SchedulerContext } from '../context.ts';
import { jobNotFound } from '../jobs/change-job.ts';

const MAX_UPLOAD = 2 ** 52;

export type WrittenCheckpoint = Pick<NewCheckpoint, 'jobId' | 'attempt' | 'workerId' | 'kind'> & {
  chunks: AsyncIterable<Uint8Array>;
};

/** Returns the number of bytes; `null` if the attempt is no longer this worker's, so that nothing was written. */
export async function writeCheckpoint(
  { store, random }: SchedulerContext,
  { chunks, kind, ...lease }: WrittenCheckpoint,
  signal: AbortSignal,
): Promise<number | null> {
  const upload = 1 + Math.floor(random() * MAX_UPLOAD);
  let offset = 0;
  const write = async (data: Uint8Array, complete: CheckpointPiece['complete']) => {
    const written = await store.writeCheckpoint({ ...lease, upload, offset, data, complete }, signal);
    if (written === 'incomplete') {
      const message = `Another checkpoint of job ${lease.jobId} was begun meanwhile`;
      throw new WorkronError('illegal_transition', message, { jobId: lease.jobId });
    }
    offset += data.length;
    return written === 'ok';
  };
  let piece: Uint8Array = new Uint8Array(0);
  for await (const next of pieces(chunks)) {
    if (piece.length > 0 && !(await write(piece, null))) return null;
    piece = next;
  }
  return (await write(piece, { kind })) ? offset : null;
}

/** The same bytes in pieces of full size, except for the last. */
async function* pieces(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let waiting: Uint8Array[] = [];
  let [length, total] = [0, 0];
  for await (const chunk of chunks) {
    total += chunk.length;
    if (total > MAX_CHECKPOINT_BYTES) throw checkpointTooLarge();
    waiting.push(chunk);
    length += chunk.length;
    if (length < CHECKPOINT_PIECE_BYTES) continue;
    const joined = Buffer.concat(waiting);
    let start = 0;
    for (; joined.length - start >= CHECKPOINT_PIECE_BYTES; start += CHECKPOINT_PIECE_BYTES) {
      yield joined.subarray(start, start + CHECKPOINT_PIECE_BYTES);
    }
    waiting = [joined.subarray(start)];
    length = joined.length - start;
  }
  if (length > 0) yield Buffer.concat(waiting);
}

export function checkpointTooLarge(): WorkronError {
  return new WorkronError('payload_too_large', `A checkpoint may have at most ${MAX_CHECKPOINT_BYTES} bytes`);
}

/** Returns the last complete checkpoint of any attempt; `null` if there is none. */
export async function readCheckpoint(
  { store }: SchedulerContext,
  id: number,
  signal: AbortSignal,
): Promise<(CheckpointInfo & CheckpointContent) | null> {
  const stored = await store.checkpoint(id, signal);
  if (stored === null) {
    if ((await store.read([id], signal)).length === 0) throw jobNotFound(id);
    return null;
  }
  const { upload, ...info } = stored;
  return {
    ...info,
    async *chunks() {
      for (let offset = 0; offset < info.bytes; ) {
        const piece = await store.readCheckpoint({ jobId: id, upload, offset }, signal);
        if (piece === null)
          throw new WorkronError('not_found', `The checkpoint of job ${id} was replaced; read it again`);
        offset += piece.length;
        yield piece;
      }
    },
  };
}

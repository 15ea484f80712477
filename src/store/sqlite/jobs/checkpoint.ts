/** Checkpoints of attempts. */

import type { CheckpointPiece, PieceWritten } from '../../../core/checkpoint.ts';
import type { StoredCheckpoint } from '../../output-store.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';

export function writeCheckpoint({ database, effects, now }: Context, piece: CheckpointPiece): PieceWritten {
  const { jobId, attempt, workerId, upload, offset, data, complete } = piece;
  if (database.get(sql.isHeld, jobId, attempt, workerId) === undefined) return 'lease_lost';
  if (offset === 0) database.run(sql.dropPieces, jobId, upload);
  database.run(sql.insertPiece, jobId, upload, offset, data);
  if (complete === null) return 'ok';

  const bytes = offset + data.length;
  if (database.get<{ bytes: number }>(sql.uploadBytes, jobId, upload)?.bytes !== bytes) return 'incomplete';
  database.run(sql.setCheckpoint, jobId, attempt, upload, complete.kind, bytes, now);
  database.run(sql.dropPieces, jobId, upload);
  effects.changedJob(jobId);
  return 'ok';
}

export function checkpoint({ database }: Context, jobId: number): StoredCheckpoint | null {
  return database.get<StoredCheckpoint>(sql.checkpoint, jobId) ?? null;
}

export function readCheckpoint(
  { database }: Context,
  { jobId, upload, offset }: { jobId: number; upload: number; offset: number },
): Uint8Array | null {
  return database.get<{ data: Uint8Array }>(sql.readPiece, jobId, upload, offset)?.data ?? null;
}

/** Checkpoints of attempts. */

import type { CheckpointPiece, PieceWritten } from '../../../core/checkpoint.ts';
import type { StoredCheckpoint } from '../../output-store.ts';
import type { Entry } from '../base/entry.ts';
import type { Tables } from '../base/tables.ts';

export function writeCheckpoint(tables: Tables, piece: CheckpointPiece): PieceWritten {
  const { jobId, attempt, workerId, upload, offset, data, complete } = piece;
  const entry = tables.jobs.get(jobId);
  if (entry?.status !== 'running' || entry.attempt !== attempt || entry.workerId !== workerId) return 'lease_lost';
  if (offset === 0) dropUploads(entry, upload);
  const pieces = entry.uploads.get(upload) ?? [];
  entry.uploads.set(upload, pieces);
  if (!pieces.some((stored) => stored.offset === offset)) pieces.push({ offset, data: data.slice() });
  if (complete === null) return 'ok';

  const bytes = offset + data.length;
  if (pieces.reduce((sum, stored) => sum + stored.data.length, 0) !== bytes) return 'incomplete';
  entry.checkpoint = { ...complete, bytes, attempt, writtenAt: tables.clock.now(), upload };
  dropUploads(entry, upload);
  tables.changes.changedJob(jobId);
  return 'ok';
}

/** Drops the pieces of all uploads except this one and that of the complete checkpoint. */
function dropUploads({ uploads, checkpoint }: Entry, upload: number): void {
  for (const number of uploads.keys()) {
    if (number !== upload && number !== checkpoint?.upload) uploads.delete(number);
  }
}

export function checkpoint(tables: Tables, jobId: number): StoredCheckpoint | null {
  const stored = tables.jobs.get(jobId)?.checkpoint ?? null;
  return stored === null ? null : { ...stored };
}

export function readCheckpoint(
  tables: Tables,
  { jobId, upload, offset }: { jobId: number; upload: number; offset: number },
): Uint8Array | null {
  const entry = tables.jobs.get(jobId);
  if (entry?.checkpoint?.upload !== upload) return null;
  const piece = entry.uploads.get(upload)?.find((stored) => stored.offset === offset);
  return piece?.data.slice() ?? null;
}

/** Checkpoints of attempts. */

import type { CheckpointPiece, PieceWritten } from '../../../core/checkpoint.ts';
import type { StoredCheckpoint } from '../../output-store.ts';
import type { Context } from '../base/context.ts';
import type { Session } from '../base/database.ts';

export async function writeCheckpoint(
  { database, sql, hints }: Context,
  piece: CheckpointPiece,
  signal: AbortSignal,
): Promise<PieceWritten> {
  const { jobId, attempt, workerId } = piece;
  const written = await database.transaction(signal, async (session) => {
    const [held] = await session.query(sql.lockHeld, [jobId, attempt, workerId]);
    return held === undefined ? 'lease_lost' : writePiece(session, sql, piece);
  });
  if (written === 'ok' && piece.complete !== null) hints.announce({ jobs: [jobId] });
  return written;
}

async function writePiece(session: Session, sql: Context['sql'], piece: CheckpointPiece): Promise<PieceWritten> {
  const { jobId, attempt, upload, offset, data, complete } = piece;
  if (offset === 0) await session.query(sql.dropPieces, [jobId, upload]);
  const buffer = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  await session.query(sql.insertPiece, [jobId, upload, offset, buffer]);
  if (complete === null) return 'ok';

  const bytes = offset + data.length;
  const [stored] = await session.query<{ bytes: number }>(sql.uploadBytes, [jobId, upload]);
  if (stored?.bytes !== bytes) return 'incomplete';
  await session.query(sql.setCheckpoint, [jobId, attempt, upload, complete.kind, bytes]);
  await session.query(sql.dropPieces, [jobId, upload]);
  return 'ok';
}

export async function checkpoint(
  { database, sql }: Context,
  jobId: number,
  signal: AbortSignal,
): Promise<StoredCheckpoint | null> {
  const [row] = await database.query<StoredCheckpoint>(sql.checkpoint, [jobId], signal);
  return row ?? null;
}

export async function readCheckpoint(
  { database, sql }: Context,
  { jobId, upload, offset }: { jobId: number; upload: number; offset: number },
  signal: AbortSignal,
): Promise<Uint8Array | null> {
  const [row] = await database.query<{ data: Buffer }>(sql.readPiece, [jobId, upload, offset], signal);
  return row === undefined ? null : new Uint8Array(row.data);
}

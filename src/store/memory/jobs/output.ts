/** Output and progress of attempts. */

import type { Report } from '../../../core/lease.ts';
import { LOG_HALF_BYTES, type LogChunk, type LogPiece } from '../../../core/output.ts';
import type { Tables } from '../base/tables.ts';

export function appendLogs(tables: Tables, chunks: readonly LogChunk[]): boolean[] {
  return chunks.map((chunk) => appendLog(tables, chunk));
}

function appendLog(tables: Tables, { jobId, attempt, workerId, offset, data }: LogChunk): boolean {
  const entry = tables.jobs.get(jobId);
  if (entry?.status !== 'running' || entry.attempt !== attempt || entry.workerId !== workerId) return false;
  const pieces = entry.logs.get(attempt) ?? [];
  const place = pieces.findLastIndex((piece) => piece.offset <= offset);
  if (data.length > 0 && pieces[place]?.offset !== offset) {
    pieces.splice(place + 1, 0, { offset, data: data.slice(), receivedAt: tables.clock.now() });
    entry.logs.set(attempt, cutMiddle(pieces));
  }
  return true;
}

/** Keeps what begins in the first half or ends in the last. */
function cutMiddle(pieces: LogPiece[]): LogPiece[] {
  const total = Math.max(...pieces.slice(-1).map(endOf));
  if (total <= 2 * LOG_HALF_BYTES) return pieces;
  return pieces.filter((piece) => piece.offset < LOG_HALF_BYTES || endOf(piece) > total - LOG_HALF_BYTES);
}

export function readLog(
  tables: Tables,
  { jobId, attempt, from, maxBytes }: { jobId: number; attempt: number; from: number; maxBytes: number },
): LogPiece[] {
  const found: LogPiece[] = [];
  let bytes = 0;
  for (const piece of tables.jobs.get(jobId)?.logs.get(attempt) ?? []) {
    if (endOf(piece) <= from) continue;
    if (found.length > 0 && bytes + piece.data.length > maxBytes) break;
    found.push({ ...piece, data: piece.data.slice() });
    bytes += piece.data.length;
  }
  return found;
}

function endOf(piece: LogPiece): number {
  return piece.offset + piece.data.length;
}

export function report(tables: Tables, reports: readonly Report[]): boolean[] {
  return reports.map((one) => reportOne(tables, one));
}

function reportOne(tables: Tables, { jobId, attempt, workerId, progress }: Report): boolean {
  const entry = tables.jobs.get(jobId);
  if (entry?.status !== 'running' || entry.attempt !== attempt || entry.workerId !== workerId) return false;
  entry.progress = { ...progress, attempt };
  tables.changes.changedJob(jobId);
  return true;
}

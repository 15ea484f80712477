/** Output and progress of attempts. */

import type { Report } from '../../../core/lease.ts';
import { LOG_HALF_BYTES, type LogChunk, type LogPiece, PROBE_BYTES } from '../../../core/output.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';

export function appendLogs(context: Context, chunks: readonly LogChunk[]): boolean[] {
  return chunks.map((chunk) => appendLog(context, chunk));
}

function appendLog({ database, now }: Context, { jobId, attempt, workerId, offset, data }: LogChunk): boolean {
  if (database.get(sql.isHeld, jobId, attempt, workerId) === undefined) return false;
  if (data.length === 0) return true;
  if (database.run(sql.insertLog, jobId, attempt, offset, data, now) === 0) return true;
  const end = database.get<{ end: number }>(sql.logEnd, jobId, attempt)?.end ?? 0;
  if (end > 2 * LOG_HALF_BYTES) database.run(sql.cutLog, jobId, attempt, LOG_HALF_BYTES, end - LOG_HALF_BYTES);
  return true;
}

export function insertProbe({ database }: Context): void {
  database.run(sql.insertProbe, Buffer.alloc(PROBE_BYTES));
}

export function deleteProbe({ database }: Context): void {
  database.run(sql.deleteProbe);
}

interface LogRow {
  start: number;
  data: Uint8Array;
  received_at: number;
}

interface ReadLogInput {
  jobId: number;
  attempt: number;
  from: number;
  maxBytes: number;
}

export function readLog({ database }: Context, { jobId, attempt, from, maxBytes }: ReadLogInput): LogPiece[] {
  const found: LogPiece[] = [];
  let bytes = 0;
  for (const { start, data, received_at } of database.each<LogRow>(sql.readLog, jobId, attempt, from)) {
    if (found.length > 0 && bytes + data.length > maxBytes) break;
    found.push({ offset: start, data, receivedAt: received_at });
    bytes += data.length;
  }
  return found;
}

export function report(context: Context, reports: readonly Report[]): boolean[] {
  return reports.map((one) => reportOne(context, one));
}

function reportOne({ database, effects }: Context, { jobId, attempt, workerId, progress }: Report): boolean {
  if (database.get(sql.isHeld, jobId, attempt, workerId) === undefined) return false;
  database.run(sql.setProgress, jobId, attempt, progress.fraction, progress.text);
  effects.changedJob(jobId);
  return true;
}

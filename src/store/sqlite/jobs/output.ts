/** Output of attempts. */

import { LOG_HALF_BYTES, type LogChunk, PROBE_BYTES } from '../../../core/output.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';

export function appendLogs(context: Context, chunks: readonly LogChunk[]): boolean[] {
  return chunks.map((chunk) => appendLog(context, chunk));
}

/** True if the attempt may still be written about. */
function isWritable({ database }: Context, { jobId, attempt, workerId, completed }: LogChunk): boolean {
  if (database.get(sql.isHeld, jobId, attempt, workerId) !== undefined) return true;
  return completed === true && database.get(sql.isDone, jobId, attempt, workerId) !== undefined;
}

function appendLog(context: Context, chunk: LogChunk): boolean {
  const { database, now } = context;
  const { jobId, attempt, offset, data } = chunk;
  if (!isWritable(context, chunk)) return false;
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

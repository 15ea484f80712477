/** Output and progress of attempts. */

import type { Report } from '../../../core/lease.ts';
import { LOG_HALF_BYTES, type LogChunk, type LogPiece } from '../../../core/output.ts';
import type { Context } from '../base/context.ts';
import { numbers, texts } from '../base/values.ts';

export async function appendLogs(
  { database, sql }: Context,
  chunks: readonly LogChunk[],
  signal: AbortSignal,
): Promise<boolean[]> {
  const rows = await database.query<{ place: number }>(
    sql.appendLogs,
    [
      numbers(chunks.map(({ jobId }) => jobId)),
      numbers(chunks.map(({ attempt }) => attempt)),
      numbers(chunks.map(({ workerId }) => workerId)),
      numbers(chunks.map(({ offset }) => offset)),
      chunks.map(({ data }) => Buffer.from(data.buffer, data.byteOffset, data.byteLength)),
    ],
    signal,
  );
  const held = new Set(rows.map(({ place }) => place - 1));
  for (const { jobId, attempt } of grownLong(chunks.filter((_, place) => held.has(place)))) {
    await database.query(sql.cutLog, [jobId, attempt, LOG_HALF_BYTES], signal);
  }
  return chunks.map((_, place) => held.has(place));
}

/** One chunk of each attempt whose log may have to be cut: its first half is always kept. */
function grownLong(chunks: readonly LogChunk[]): Iterable<LogChunk> {
  const long = chunks.filter(({ offset }) => offset >= LOG_HALF_BYTES);
  return new Map(long.map((chunk) => [`${chunk.jobId} ${chunk.attempt}`, chunk])).values();
}

export async function readLog(
  { database, sql }: Context,
  { jobId, attempt, from, maxBytes }: { jobId: number; attempt: number; from: number; maxBytes: number },
  signal: AbortSignal,
): Promise<LogPiece[]> {
  const values = [jobId, attempt, from, maxBytes];
  const rows = await database.query<{ start: number; data: Buffer; received_at: number }>(sql.readLog, values, signal);
  return rows.map(({ start, data, received_at }) => ({
    offset: start,
    data: new Uint8Array(data),
    receivedAt: received_at,
  }));
}

export async function report(
  { database, sql, hints }: Context,
  reports: readonly Report[],
  signal: AbortSignal,
): Promise<boolean[]> {
  const values = [
    numbers(reports.map(({ jobId }) => jobId)),
    numbers(reports.map(({ attempt }) => attempt)),
    numbers(reports.map(({ workerId }) => workerId)),
    numbers(reports.map(({ progress }) => progress.fraction)),
    texts(reports.map(({ progress }) => progress.text)),
  ];
  const rows = await database.query<{ place: number }>(sql.report, values, signal);
  const held = new Set(rows.map(({ place }) => place - 1));
  hints.announce({ jobs: reports.filter((_, place) => held.has(place)).map(({ jobId }) => jobId) });
  return reports.map((_, place) => held.has(place));
}

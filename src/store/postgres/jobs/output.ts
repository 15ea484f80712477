/** Output of attempts. */

import { LOG_HALF_BYTES, type LogChunk } from '../../../core/output.ts';
import type { Context } from '../base/context.ts';
import { numbers } from '../base/values.ts';

export async function appendLogs(
  { database, sql }: Context,
  chunks: readonly LogChunk[],
  signal: AbortSignal,
): Promise<boolean[]> {
  const accepted = await accept(chunks, async (some, completed) => {
    const values = [
      numbers(some.map(({ jobId }) => jobId)),
      numbers(some.map(({ attempt }) => attempt)),
      numbers(some.map(({ workerId }) => workerId)),
      numbers(some.map(({ offset }) => offset)),
      some.map(({ data }) => Buffer.from(data.buffer, data.byteOffset, data.byteLength)),
    ];
    return await database.query(completed ? sql.appendCompletedLogs : sql.appendLogs, values, signal);
  });
  for (const { jobId, attempt } of grownLong(chunks.filter((chunk) => accepted.has(chunk)))) {
    await database.query(sql.cutLog, [jobId, attempt, LOG_HALF_BYTES], signal);
  }
  return chunks.map((chunk) => accepted.has(chunk));
}

/** Writes the items of attempts that are held and then, of the rest, those of attempts that were completed. */
async function accept<T extends { completed?: boolean }>(
  items: readonly T[],
  write: (some: readonly T[], completed: boolean) => Promise<readonly { place: number }[]>,
): Promise<Set<T>> {
  const taken = (from: readonly T[], rows: readonly { place: number }[]) =>
    rows.map(({ place }) => from[place - 1] as T);
  const accepted = new Set(taken(items, await write(items, false)));
  const rest = items.filter((item) => item.completed === true && !accepted.has(item));
  if (rest.length === 0) return accepted;
  return new Set([...accepted, ...taken(rest, await write(rest, true))]);
}

/** One chunk of each attempt whose log may have to be cut: its first half is always kept. */
function grownLong(chunks: readonly LogChunk[]): Iterable<LogChunk> {
  const long = chunks.filter(({ offset }) => offset >= LOG_HALF_BYTES);
  return new Map(long.map((chunk) => [`${chunk.jobId} ${chunk.attempt}`, chunk])).values();
}

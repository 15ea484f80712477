import type { Report } from '../../../core/lease.ts';
import type { Context } from '../base/context.ts';
import { numbers, texts } from '../base/values.ts';

export async function report(
  { database, sql, hints }: Context,
  reports: readonly Report[],
  signal: AbortSignal,
): Promise<boolean[]> {
  const values = [
    numbers(reports.map(({ jobId }) => jobId)),
    numbers(reports.map(({ attempt }) => attempt)),
    numbers(reports.map(({ workerId }) => workerId)),
    numbers(reports.map(({ progress }) => progress?.fraction ?? null)),
    texts(reports.map(({ progress }) => progress?.text ?? null)),
    texts(reports.map(({ checkpoint: value }) => (value === undefined ? null : JSON.stringify(value)))),
  ];
  const rows = await database.query<{ place: number }>(sql.report, values, signal);
  const held = new Set(rows.map(({ place }) => place - 1));
  hints.tell({ jobs: reports.filter((_, place) => held.has(place)).map(({ jobId }) => jobId) });
  return reports.map((_, place) => held.has(place));
}

export async function checkpoint({ database, sql }: Context, jobId: number, signal: AbortSignal): Promise<unknown> {
  const [row] = await database.query<{ checkpoint: unknown }>(sql.checkpoint, [jobId], signal);
  return row?.checkpoint ?? null;
}

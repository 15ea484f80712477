import type { Report } from '../../../core/lease.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';

interface ProgressRow {
  attempt: number;
  fraction: number | null;
  note: string | null;
  checkpoint: string | null;
}

export function report(context: Context, reports: readonly Report[]): boolean[] {
  return reports.map((one) => reportOne(context, one));
}

function reportOne(
  { database, effects }: Context,
  { jobId, attempt, workerId, progress, checkpoint }: Report,
): boolean {
  if (database.get(sql.isHeld, jobId, attempt, workerId) === undefined) return false;
  const before = database.get<ProgressRow>(sql.progress, jobId);
  const same = before?.attempt === attempt ? before : undefined;
  const told = progress === undefined ? same : { fraction: progress.fraction, note: progress.text };
  const value = checkpoint === undefined ? (before?.checkpoint ?? null) : JSON.stringify(checkpoint);
  database.run(sql.setProgress, jobId, attempt, told?.fraction ?? null, told?.note ?? null, value);
  effects.changedJob(jobId);
  return true;
}

/** JSON text. */
export function checkpoint({ database }: Context, jobId: number): string | null {
  return database.get<ProgressRow>(sql.progress, jobId)?.checkpoint ?? null;
}

import type { Report } from '../../../core/lease.ts';
import { copyJson } from '../base/copy.ts';
import type { Tables } from '../base/tables.ts';

export function report(tables: Tables, reports: readonly Report[]): boolean[] {
  return reports.map((one) => reportOne(tables, one));
}

function reportOne(tables: Tables, { jobId, attempt, workerId, progress, checkpoint: value }: Report): boolean {
  const entry = tables.jobs.get(jobId);
  if (entry?.status !== 'running' || entry.attempt !== attempt || entry.workerId !== workerId) return false;
  if (progress !== undefined) entry.progress = { ...progress, attempt };
  if (value !== undefined) entry.checkpoint = copyJson(value);
  tables.changes.changedJob(jobId);
  return true;
}

export function checkpoint(tables: Tables, jobId: number): unknown {
  return copyJson(tables.jobs.get(jobId)?.checkpoint ?? null);
}

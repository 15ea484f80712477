import type { Attempt, Job } from '../../../core/job.ts';
import type { GraphWork } from '../../duty-store.ts';
import type { Context } from '../base/context.ts';
import { numbers } from '../base/values.ts';
import { decodeJob, type JobRow } from './job-row.ts';

export async function read(context: Context, ids: readonly number[], signal: AbortSignal): Promise<Job[]> {
  const rows = await context.database.query<JobRow>(context.sql.jobs, [numbers(ids)], signal);
  const found = new Map(rows.map((row) => [row.id, row]));
  return ids.flatMap((id) => {
    const row = found.get(id);
    return row === undefined ? [] : [decodeJob(row)];
  });
}

export async function attempts({ database, sql }: Context, jobId: number, signal: AbortSignal): Promise<Attempt[]> {
  type Row = Pick<Attempt, 'attempt' | 'outcome' | 'signal' | 'error' | 'thrown'> & {
    job_id: number;
    worker_id: number | null;
    started_at: number;
    ended_at: number;
    exit_code: number | null;
    cpu_ms: number | null;
    max_rss: number | null;
  };
  const rows = await database.query<Row>(sql.attempts, [jobId], signal);
  return rows.map((row) => ({
    jobId: row.job_id,
    attempt: row.attempt,
    workerId: row.worker_id,
    startedAt: row.started_at,
    endedAt: row.ended_at,
    outcome: row.outcome,
    exitCode: row.exit_code,
    signal: row.signal,
    error: row.error,
    thrown: row.thrown,
    usage: row.cpu_ms === null ? null : { cpuMs: row.cpu_ms, maxRssBytes: row.max_rss },
  }));
}

/** Returns which duties of graphs have something to do. */
export async function graphWork({ database, sql }: Context, signal: AbortSignal): Promise<GraphWork> {
  const [row] = await database.query<GraphWork>(sql.graphWork, [], signal);
  return row as GraphWork;
}

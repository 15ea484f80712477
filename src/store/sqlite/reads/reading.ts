import type { Attempt } from '../../../core/job.ts';
import type { GraphWork } from '../../duty-store.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';
import { decodeThrown, idOf, type JobRow } from './job-row.ts';

/** Unknown ids are left out; an id that is given twice is returned twice. */
export function read({ database }: Context, ids: readonly number[]): JobRow[] {
  if (ids.length === 0) return [];
  const byId = new Map(database.tuples<JobRow>(sql.jobs, JSON.stringify(ids)).map((row) => [idOf(row), row]));
  return ids.map((id) => byId.get(id)).filter((row) => row !== undefined);
}

interface AttemptRow {
  job_id: number;
  attempt: number;
  worker_id: number | null;
  started_at: number | null;
  ended_at: number;
  outcome: Attempt['outcome'];
  exit_code: number | null;
  signal: string | null;
  error: string | null;
  thrown: string | null;
  cpu_ms: number | null;
  max_rss: number | null;
}

export function attempts({ database }: Context, jobId: number): Attempt[] {
  return database.all<AttemptRow>(sql.attempts, jobId).map((row) => ({
    jobId: row.job_id,
    attempt: row.attempt,
    workerId: row.worker_id,
    startedAt: row.started_at ?? row.ended_at,
    endedAt: row.ended_at,
    outcome: row.outcome,
    exitCode: row.exit_code,
    signal: row.signal,
    error: row.error,
    thrown: decodeThrown(row.thrown),
    usage: row.cpu_ms === null ? null : { cpuMs: row.cpu_ms, maxRssBytes: row.max_rss },
  }));
}

/** Returns which duties of graphs have something to do. */
export function graphWork({ database }: Context): GraphWork {
  const row = database.get<{ adopt: number; cascade: number; expand: number }>(sql.graphWork);
  return { adopt: row?.adopt === 1, cascade: row?.cascade === 1, expand: row?.expand === 1 };
}

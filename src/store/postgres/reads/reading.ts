import type { Attempt, Job } from '../../../core/job.ts';
import type { JobFilter } from '../../../core/job-filter.ts';
import { CREATION_SLACK_MS, endWith } from '../../list-bounds.ts';
import type { Context } from '../base/context.ts';
import type { Statement } from '../base/database.ts';
import { numbers } from '../base/values.ts';
import { type Bounded, countQuery, listQuery } from './filter.ts';
import { decodeJob, type JobRow } from './job-row.ts';

export async function read(context: Context, ids: readonly number[], signal: AbortSignal): Promise<Job[]> {
  const rows = await context.database.query<JobRow>(context.sql.jobs, [numbers(ids)], signal);
  const found = new Map(rows.map((row) => [row.id, row]));
  return ids.flatMap((id) => {
    const row = found.get(id);
    return row === undefined ? [] : [decodeJob(row)];
  });
}

export async function list(
  context: Context,
  filter: JobFilter,
  page: { before: number | null; limit: number },
  signal: AbortSignal,
): Promise<Job[]> {
  const { text, values } = listQuery(context, await bounded(context, filter, signal), page);
  const rows = await context.database.query<JobRow>({ text }, values, signal);
  return rows.map(decodeJob);
}

export async function count(context: Context, filter: JobFilter, atMost: number, signal: AbortSignal): Promise<number> {
  const { text, values } = countQuery(context, await bounded(context, filter, signal), atMost);
  const [row] = await context.database.query<{ count: number }>({ text }, values, signal);
  return row?.count ?? 0;
}

/**
 * Where ids alone tell that a job is not meant, none beyond is looked at: what a worker ran that is gone is no younger than
 * its last lease. A reason tells how the job ended.
 */
async function bounded(
  { database, sql }: Context,
  { newest, ...filter }: JobFilter,
  signal: AbortSignal,
): Promise<Bounded> {
  const idFrom = async (statement: Statement, ...values: unknown[]) =>
    (await database.query<{ id: number | null }>(statement, values, signal))[0]?.id ?? 0;
  const { createdFrom, workerId, reason } = filter;
  const gone = workerId === undefined ? [] : await database.query<{ at: number }>(sql.workerGone, [workerId], signal);
  const createdTo = Math.min(filter.createdTo ?? Infinity, gone[0]?.at ?? Infinity);
  const [newestId, lastBefore, lastWithin] = await Promise.all([
    newest === undefined ? undefined : idFrom(sql.newestJobId),
    createdFrom === undefined ? undefined : idFrom(sql.lastJobBefore, createdFrom - CREATION_SLACK_MS),
    createdTo === Infinity ? undefined : idFrom(sql.lastJobBefore, createdTo + CREATION_SLACK_MS),
  ]);
  const above = Math.max((newestId ?? 0) - (newest ?? 0), lastBefore ?? 0);
  return {
    ...filter,
    ...(reason !== undefined && filter.statuses === undefined ? { statuses: [endWith(reason)] } : {}),
    ...(above > 0 ? { above } : {}),
    ...(lastWithin === undefined ? {} : { upTo: lastWithin }),
  };
}

export async function attempts({ database, sql }: Context, jobId: number, signal: AbortSignal): Promise<Attempt[]> {
  type Row = Pick<Attempt, 'attempt' | 'outcome' | 'signal' | 'error'> & {
    job_id: number;
    worker_id: number | null;
    started_at: number;
    ended_at: number;
    exit_code: number | null;
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
  }));
}

export async function countAhead(
  { database, sql }: Context,
  jobId: number,
  atMost: number,
  signal: AbortSignal,
): Promise<number> {
  const [row] = await database.query<{ count: number }>(sql.countAhead, [jobId, atMost], signal);
  return row?.count ?? 0;
}

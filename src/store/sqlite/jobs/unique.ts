import type { Status, Unique } from '../../../core/job.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';

export interface Holder {
  jobId: number;
  /** `null` if the job has ended. */
  status: Status | null;
  createdAt: number;
}

/** The current holder of a key, if any. */
export function holderOf({ database, now }: Context, key: string): Holder | undefined {
  type Row = { job_id: number; status: Status | null; created_at: number };
  const row = database.get<Row>(sql.keyHolders, key, now);
  return row === undefined ? undefined : { jobId: row.job_id, status: row.status, createdAt: row.created_at };
}

export function takeKey({ database, now }: Context, jobId: number, unique: Unique): void {
  const timed = typeof unique.while === 'number';
  database.run(
    sql.giveKeys,
    unique.key,
    jobId,
    timed ? 'time' : unique.while,
    timed ? now + Math.round(unique.while as number) : null,
  );
}

import type { Status } from '../../../core/job.ts';
import type { Unique } from '../../../core/unique.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';

export interface Holder {
  jobId: number;
  /** `null` if the job has ended. */
  status: Status | null;
  createdAt: number;
  /** `null` if the job was deleted. */
  queue: string | null;
  /** The unfinished job whose end it waits for, because that one held the key before. */
  after: number | null;
}

/** The current holder of a key, if any. */
export function holderOf({ database, now }: Context, key: string): Holder | undefined {
  type Row = { job_id: number; status: Status | null; created_at: number; queue: string | null; after: number | null };
  const row = database.get<Row>(sql.keyHolders, key, now);
  if (row === undefined) return undefined;
  const { job_id: jobId, status, created_at: createdAt, queue, after } = row;
  return { jobId, status, createdAt, queue, after };
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

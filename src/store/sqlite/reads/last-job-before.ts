import type { Database } from '../base/database.ts';
import { sql } from '../base/sql.ts';

/** The id of the last job that was created before an instant, by halving. 0: none. */
export function lastJobBefore(database: Database, instant: number): number {
  let low = 0;
  let high = (database.get<{ id: number }>(sql.newestJobId)?.id ?? 0) + 1;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    const job = database.get<{ id: number; created_at: number }>(sql.jobUpTo, low, middle);
    if (job !== undefined && job.created_at >= instant) high = job.id;
    else low = middle;
  }
  return low;
}

import type { Job, JobPage } from '../api/job.ts';
import type { Connection } from './connection.ts';
import type { Filter } from './filter-flags.ts';

const LARGEST_PAGE = 200;

/** The newest `limit` jobs that match, over as many pages as it takes; `more`: there are others. */
export async function listJobs(
  connection: Connection,
  filter: Filter,
  limit: number,
): Promise<{ jobs: Job[]; more: boolean }> {
  const jobs: Job[] = [];
  let cursor: string | undefined;
  for (;;) {
    const size = Math.min(LARGEST_PAGE, limit - jobs.length);
    const page = await connection.json<JobPage>('GET', '/jobs', { query: { ...filter, limit: String(size), cursor } });
    jobs.push(...page.items);
    if (page.next_cursor === null || jobs.length >= limit) return { jobs, more: page.next_cursor !== null };
    cursor = page.next_cursor;
  }
}

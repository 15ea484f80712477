import type { ListedJob } from '../../api/job.ts';
import { routes } from '../../api/routes.ts';
import type { Connection } from '../connection.ts';
import type { Filter } from '../flags/filter.ts';

const MAX_PAGE_SIZE = 200;

interface Listed {
  jobs: ListedJob[];
  /** True if more jobs match. */
  more: boolean;
  /** Jobs submitted before this instant were not searched for text; `null` if all were. */
  searchedBackTo: string | null;
}

/** Returns the newest `limit` jobs that match, from as many pages as needed. */
export async function listJobs(connection: Connection, filter: Filter, limit: number): Promise<Listed> {
  const jobs: ListedJob[] = [];
  let cursor: string | undefined;
  for (;;) {
    const size = Math.min(MAX_PAGE_SIZE, limit - jobs.length);
    const page = await connection.json(routes.listJobs, { query: { ...filter, limit: size, cursor } });
    jobs.push(...page.items);
    if (page.next_cursor === null || jobs.length >= limit) {
      return { jobs, more: page.next_cursor !== null, searchedBackTo: page.searched_back_to ?? null };
    }
    cursor = page.next_cursor;
  }
}

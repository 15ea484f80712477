import type { Job } from '../api/job.ts';
import { routes } from '../api/routes.ts';
import type { Connection } from './connection.ts';
import type { Filter } from './filter-flags.ts';

const MAX_PAGE_SIZE = 200;

export interface Listed {
  jobs: Job[];
  /** Whether there are others. */
  more: boolean;
  /** Free text was not looked for in what was submitted until then; `null`: it was looked for in all. */
  searchedBackTo: string | null;
}

/** The newest `limit` jobs that match, over as many pages as it takes. */
export async function listJobs(connection: Connection, filter: Filter, limit: number): Promise<Listed> {
  const jobs: Job[] = [];
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

import { toInstantOrNull } from '../../api/fields.ts';
import { JobPage } from '../../api/job.ts';
import { JobListQuery } from '../../api/job-filter.ts';
import { jobToWire } from '../../api/job-wire.ts';
import { fromCursor, toCursor } from '../cursor.ts';
import { defineRoute } from '../route.ts';
import { filterFromWire } from '../../api/state-wire.ts';
import { NEWEST_WITH_TEXT, searchedBackTo } from '../text-window.ts';

const DEFAULT_LIMIT = 50;

export const listJobs = defineRoute({
  method: 'GET',
  path: '/jobs',
  scope: 'read',
  summary: 'Jobs that match, newest first',
  query: JobListQuery,
  answers: { 200: JobPage },
  async handle({ scheduler, query, now, signal }) {
    const { limit = DEFAULT_LIMIT, cursor, ...filter } = query;
    const before = cursor === undefined ? null : fromCursor(cursor);
    const wanted = {
      ...filterFromWire(filter, now()),
      ...(filter.q !== undefined && { newest: NEWEST_WITH_TEXT }),
    };
    const page = await scheduler.jobs(wanted, { before, limit }, signal);
    const next_cursor = page.nextBefore === null ? null : toCursor(page.nextBefore);
    const json: JobPage = { items: page.items.map(jobToWire), next_cursor };
    if (filter.q !== undefined) {
      json.searched_back_to = toInstantOrNull(await searchedBackTo(scheduler, NEWEST_WITH_TEXT, signal));
    }
    return { status: 200, json };
  },
});

import { Failures } from '../../api/failures.ts';
import { instantOrAgo, toInstant } from '../../api/fields.ts';
import { strict } from '../../api/schemas.ts';
import type { Job } from '../../core/job.ts';
import { groupFailures } from '../group-failures.ts';
import { defineRoute } from '../route.ts';
import { resolveInstant } from '../../api/state-wire.ts';

const DAY_MS = 24 * 3_600_000;
const PAGE = 200;
/** More are not looked at: the newest show what is wrong now. */
const MAX_JOBS = 1_000;
const MAX_GROUPS = 50;

export const listFailures = defineRoute({
  method: 'GET',
  path: '/failures',
  scope: 'read',
  summary: 'Failed jobs of the last day, the same failures together, the most frequent first',
  query: strict({ from: instantOrAgo.exactOptional() }),
  answers: { 200: Failures },
  async handle({ scheduler, query, now, signal }) {
    const from = query.from === undefined ? now() - DAY_MS : resolveInstant(query.from, now());
    const jobs: Job[] = [];
    let before: number | null = null;
    do {
      const filter = { statuses: ['failed' as const], createdFrom: from };
      const page = await scheduler.jobs(filter, { before, limit: PAGE }, signal);
      jobs.push(...page.items);
      before = page.nextBefore;
    } while (before !== null && jobs.length < MAX_JOBS);
    const items = groupFailures(jobs).slice(0, MAX_GROUPS);
    return { status: 200, json: { from: toInstant(from), scanned: jobs.length, complete: before === null, items } };
  },
});

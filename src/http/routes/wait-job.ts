import { duration } from '../../api/fields.ts';
import { Job } from '../../api/job.ts';
import { jobToWire } from '../../api/job-wire.ts';
import { strict } from '../../api/schemas.ts';
import { pathId } from '../path-id.ts';
import { defineRoute } from '../route.ts';

const DEFAULT_TIMEOUT_MS = 30_000;
const MAX_TIMEOUT_MS = 600_000;

export const waitJob = defineRoute({
  method: 'GET',
  path: '/jobs/:id/wait',
  scope: 'read',
  summary: 'The job once it has ended, or as it is when the timeout (30 s, at most 10 m) has passed',
  query: strict({
    timeout: duration().exactOptional(),
  }),
  long: true,
  answers: { 200: Job },
  async handle({ scheduler, params, query, polls, signal }) {
    using _ = polls.take();
    const timeoutMs = Math.min(query.timeout ?? DEFAULT_TIMEOUT_MS, MAX_TIMEOUT_MS);
    return { status: 200, json: jobToWire(await scheduler.wait(pathId(params), timeoutMs, signal)) };
  },
});

import { Job } from '../../api/job.ts';
import { jobToWire } from '../../api/job-wire.ts';
import { strict } from '../../api/schemas.ts';
import { pathId } from '../path-id.ts';
import { defineRoute } from '../route.ts';

export const retryJob = defineRoute({
  method: 'POST',
  path: '/jobs/:id/retry',
  scope: 'operate',
  summary: 'Let a failed, cancelled or skipped job wait again, with a full budget',
  body: strict({}),
  bodyOptional: true,
  answers: { 200: Job },
  async handle({ scheduler, params, signal }) {
    return { status: 200, json: jobToWire(await scheduler.retry(pathId(params), signal)) };
  },
});

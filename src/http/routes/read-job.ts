import { JobDetail } from '../../api/job.ts';
import { jobDetailToWire } from '../../api/job-wire.ts';
import { pathId } from '../path-id.ts';
import { defineRoute } from '../route.ts';

export const readJob = defineRoute({
  method: 'GET',
  path: '/jobs/:id',
  scope: 'read',
  summary: 'One job, and what it waits for',
  answers: { 200: JobDetail },
  async handle({ scheduler, params, signal }) {
    return { status: 200, json: jobDetailToWire(await scheduler.job(pathId(params), signal)) };
  },
});

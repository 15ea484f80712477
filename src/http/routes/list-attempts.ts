import { AttemptList } from '../../api/job.ts';
import { attemptToWire } from '../../api/job-wire.ts';
import { pathId } from '../path-id.ts';
import { defineRoute } from '../route.ts';

export const listAttempts = defineRoute({
  method: 'GET',
  path: '/jobs/:id/attempts',
  scope: 'read',
  summary: 'The ended attempts of a job, oldest first',
  answers: { 200: AttemptList },
  async handle({ scheduler, params, signal }) {
    const attempts = await scheduler.attempts(pathId(params), signal);
    return { status: 200, json: { items: attempts.map(attemptToWire) } };
  },
});

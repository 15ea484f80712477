import { z } from 'zod';
import { Job } from '../../api/job.ts';
import { jobToWire } from '../../api/job-wire.ts';
import { strict } from '../../api/schemas.ts';
import { pathId } from '../path-id.ts';
import { defineRoute } from '../route.ts';

export const cancelJob = defineRoute({
  method: 'POST',
  path: '/jobs/:id/cancel',
  scope: 'operate',
  summary: 'Cancel a job: at once (200), or by asking its worker to stop it (202)',
  body: strict({
    cascade: z
      .enum(['waiting', 'none'])
      .meta({
        description:
          'waiting (the default): what waits for it in vain is cancelled too; none: it is judged by its conditions.',
      })
      .exactOptional(),
  }),
  bodyOptional: true,
  answers: { 200: Job, 202: Job },
  async handle({ scheduler, params, body, signal }) {
    const job = await scheduler.cancel(pathId(params), { keepDependents: body?.cascade === 'none' }, signal);
    return { status: job.status === 'running' ? 202 : 200, json: jobToWire(job) };
  },
});

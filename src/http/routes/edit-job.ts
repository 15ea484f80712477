import { Job } from '../../api/job.ts';
import { JobEdit } from '../../api/job-edit.ts';
import { jobToWire } from '../../api/job-wire.ts';
import { pathId } from '../path-id.ts';
import { defineRoute } from '../route.ts';

export const editJob = defineRoute({
  method: 'PATCH',
  path: '/jobs/:id',
  scope: 'operate',
  summary: 'Change a job that waits',
  body: JobEdit,
  answers: { 200: Job },
  async handle({ scheduler, params, body, signal }) {
    const { run_at, max_attempts, timeout, tags, ...same } = body;
    const edit = {
      ...same,
      ...(run_at !== undefined && { runAt: run_at }),
      ...(timeout !== undefined && { timeoutMs: timeout }),
      ...(max_attempts !== undefined && { maxAttempts: max_attempts }),
      ...(tags && { tags: [...new Set(tags)] }),
    };
    return { status: 200, json: jobToWire(await scheduler.edit(pathId(params), edit, signal)) };
  },
});

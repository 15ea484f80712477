import { z } from 'zod';
import { Left } from '../../api/registration.ts';
import { pathId } from '../path-id.ts';
import { defineRoute } from '../route.ts';

export const leaveWorker = defineRoute({
  method: 'POST',
  path: '/workers/:id/leave',
  scope: 'work',
  summary: 'A worker that holds nothing any more says good-bye',
  body: z.looseObject({}),
  bodyOptional: true,
  answers: { 200: Left },
  async handle({ scheduler, params, signal }) {
    await scheduler.leave(pathId(params, 'worker_not_found'), signal);
    return { status: 200, json: { left: true } };
  },
});

import { Checkpoint } from '../../api/report.ts';
import { pathId } from '../path-id.ts';
import { defineRoute } from '../route.ts';

export const readCheckpoint = defineRoute({
  method: 'GET',
  path: '/jobs/:id/checkpoint',
  scope: 'read',
  summary: 'What the next attempt of a job could go on from',
  answers: { 200: Checkpoint },
  async handle({ scheduler, params, signal }) {
    return { status: 200, json: { value: await scheduler.checkpoint(pathId(params), signal) } };
  },
});

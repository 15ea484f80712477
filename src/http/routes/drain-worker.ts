import { strict } from '../../api/schemas.ts';
import { Worker } from '../../api/worker.ts';
import { pathId } from '../path-id.ts';
import { defineRoute } from '../route.ts';
import { workerToWire } from '../../api/state-wire.ts';

export const drainWorker = defineRoute({
  method: 'POST',
  path: '/workers/:id/drain',
  scope: 'operate',
  summary: 'Ask a worker to finish what it has and leave',
  body: strict({}),
  bodyOptional: true,
  answers: { 200: Worker },
  async handle({ scheduler, params, signal }) {
    const worker = await scheduler.drainWorker(pathId(params, 'worker_not_found'), signal);
    return { status: 200, json: workerToWire(worker) };
  },
});

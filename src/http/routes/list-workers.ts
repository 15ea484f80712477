import { WorkerList } from '../../api/worker.ts';
import { defineRoute } from '../route.ts';
import { workerToWire } from '../../api/state-wire.ts';

export const listWorkers = defineRoute({
  method: 'GET',
  path: '/workers',
  scope: 'read',
  summary: 'The workers that are known, with what they can run',
  answers: { 200: WorkerList },
  async handle({ scheduler, signal }) {
    return { status: 200, json: { items: (await scheduler.workers(signal)).map(workerToWire) } };
  },
});

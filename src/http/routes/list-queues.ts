import { QueueList } from '../../api/queue.ts';
import { defineRoute } from '../route.ts';
import { queueToWire } from '../../api/state-wire.ts';

export const listQueues = defineRoute({
  method: 'GET',
  path: '/queues',
  scope: 'read',
  summary: 'Every queue that has a setting or an unfinished job',
  answers: { 200: QueueList },
  async handle({ scheduler, signal }) {
    return { status: 200, json: { items: (await scheduler.queues(signal)).map(queueToWire) } };
  },
});

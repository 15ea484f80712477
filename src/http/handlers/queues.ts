import { decode } from '../../api/decode.ts';
import { queueName } from '../../api/job-submission.ts';
import { Queue, QueueEdit, QueueList, queueRateFrom, queueToWire } from '../../api/queue.ts';
import { routes } from '../../api/routes.ts';
import { noFields } from '../../api/schemas.ts';
import { handler } from '../handler.ts';

export const queueHandlers = {
  listQueues: handler(routes.listQueues, {
    summary: 'List every queue that has a setting or an unfinished job',
    replies: { 200: QueueList },
    async handle({ scheduler, signal }) {
      return { status: 200, json: { items: (await scheduler.queues(signal)).map(queueToWire) } };
    },
  }),

  deleteQueue: handler(routes.deleteQueue, {
    summary: 'Delete the settings of a queue that has no unfinished jobs',
    replies: { 200: noFields },
    async handle({ scheduler, params, signal }) {
      await scheduler.deleteQueue(decode(queueName, params['name'], '/name'), signal);
      return { status: 200, json: {} };
    },
  }),

  editQueue: handler(routes.editQueue, {
    summary: 'Pause or resume a queue, or limit how many of its jobs run at once or start in a while',
    body: QueueEdit,
    decides: ({ paused }) => (paused === undefined ? 'edit' : paused ? 'pause' : 'resume'),
    replies: { 200: Queue },
    async handle({ scheduler, params, body, signal }) {
      const name = decode(queueName, params['name'], '/name');
      const settings = {
        ...(body.paused !== undefined && { paused: body.paused }),
        ...(body.max_running !== undefined && { maxRunning: body.max_running }),
        ...(body.rate !== undefined && { rate: queueRateFrom(body.rate) }),
      };
      return { status: 200, json: queueToWire(await scheduler.setQueue(name, settings, signal)) };
    },
  }),
};

import { decode } from '../../api/decode.ts';
import { queueName } from '../../api/job-submission.ts';
import { Queue, QueueEdit } from '../../api/queue.ts';
import { defineRoute } from '../route.ts';
import { queueToWire } from '../../api/state-wire.ts';

export const editQueue = defineRoute({
  method: 'PATCH',
  path: '/queues/:name',
  scope: 'operate',
  summary: 'Pause or resume a queue, or limit how many of its jobs run at once',
  body: QueueEdit,
  answers: { 200: Queue },
  async handle({ scheduler, params, body, signal }) {
    const name = decode(queueName, params['name'], '/name');
    const settings = {
      ...(body.paused !== undefined && { paused: body.paused }),
      ...(body.max_running !== undefined && { maxRunning: body.max_running }),
    };
    return { status: 200, json: queueToWire(await scheduler.setQueue(name, settings, signal)) };
  },
});

import { PROTOCOL, Registered, Registration } from '../../api/registration.ts';
import { defineRoute } from '../route.ts';
import { workerFromWire } from '../../api/state-wire.ts';

export const registerWorker = defineRoute({
  method: 'POST',
  path: '/workers/register',
  scope: 'work',
  summary: 'A worker says what it can run, and is given its id, new at every call',
  body: Registration,
  answers: { 201: Registered },
  async handle({ scheduler, body, remoteAddress, signal }) {
    const remote = { address: remoteAddress, leaseMs: scheduler.leaseMs };
    const worker = await scheduler.register(workerFromWire(body, remote), signal);
    const json: Registered = {
      protocol: PROTOCOL,
      worker_id: String(worker.id),
      lease: worker.leaseMs,
      heartbeat: scheduler.heartbeatMs,
    };
    return { status: 201, json };
  },
});

import { Heartbeat, HeartbeatAnswer, leaseToWire } from '../../api/heartbeat.ts';
import { WorkronError } from '../../core/error.ts';
import { pathId } from '../path-id.ts';
import { defineRoute } from '../route.ts';

export const heartbeatWorker = defineRoute({
  method: 'POST',
  path: '/workers/:id/heartbeat',
  scope: 'work',
  summary: 'A worker renews its lease on all it holds, and hears what it should stop',
  body: Heartbeat,
  bodyOptional: true,
  bodyLimit: 16 * 1024 * 1024,
  quiet: true,
  answers: { 200: HeartbeatAnswer },
  async handle({ scheduler, params, body, signal }) {
    const workerId = pathId(params, 'worker_not_found');
    // Nothing sent is {}: renew whatever it holds.
    const { leases, seen_claim: seenClaim, started } = body ?? { leases: null, seen_claim: null, started: [] };
    const held = leases?.map(({ job_id: jobId, attempt }) => ({ jobId, attempt })) ?? null;
    const begun = started.map((start) => ({
      jobId: start.job_id,
      attempt: start.attempt,
      startedAt: start.started_at,
    }));
    const answer = await scheduler.heartbeat({ workerId, leases: held, seenClaim, started: begun }, signal);
    if (answer === undefined) throw new WorkronError('worker_not_found', `No worker ${workerId}: register again`);
    const json: HeartbeatAnswer = {
      cancel: answer.cancel.map(leaseToWire),
      lost: answer.lost.map(leaseToWire),
      drain: answer.drain,
    };
    return { status: 200, json };
  },
});

/** Workers: list and drain them; and how a worker registers, stays alive and leaves. */

import { ClaimWaitEnded, EndClaimWait } from '../../api/claim.ts';
import { Heartbeat, HeartbeatAnswer, leaseToWire } from '../../api/heartbeat.ts';
import { Gone, Left, PROTOCOL, Registered, Registration, workerFromWire } from '../../api/registration.ts';
import { routes } from '../../api/routes.ts';
import { anything, nothing } from '../../api/schemas.ts';
import { Worker, WorkerListQuery, WorkerPage, workerToWire } from '../../api/worker.ts';
import { WorkronError } from '../../core/error.ts';
import { systemClock } from '../../ops/clock.ts';
import { Wake } from '../../ops/wake.ts';
import type { Scheduler } from '../../scheduler/scheduler.ts';
import { authorizeWorker, claimableQueues } from '../authorize.ts';
import { releaseAfter } from '../concurrency-limit.ts';
import { afterFrom, toNameCursor } from '../cursor.ts';
import { type Call, handler } from '../handler.ts';
import { pathId } from '../path-id.ts';
import { HEARTBEAT_MS, SSE_TYPE, sseComment, sseEvent } from '../sse.ts';

const MAX_PAGE_SIZE = 200;

export const workerHandlers = {
  listWorkers: handler(routes.listWorkers, {
    summary: 'List the known workers and what they can run, by id',
    query: WorkerListQuery,
    replies: { 200: WorkerPage },
    async handle({ scheduler, query: { limit = MAX_PAGE_SIZE, cursor }, signal }) {
      const after = Number(afterFrom(cursor) ?? 0);
      const known = (await scheduler.workers(signal)).filter(({ id }) => id > after).sort((a, b) => a.id - b.id);
      const items = known.slice(0, limit);
      const next = known.length > limit ? String(items.at(-1)?.id) : null;
      return { status: 200, json: { items: items.map(workerToWire), next_cursor: toNameCursor(next) } };
    },
  }),

  drainWorker: handler(routes.drainWorker, {
    summary: 'Ask a worker to finish its jobs and leave',
    body: nothing.optional(),
    replies: { 200: Worker },
    async handle({ scheduler, params, signal }) {
      return { status: 200, json: workerToWire(await scheduler.drainWorker(workerId(params), signal)) };
    },
  }),

  undrainWorker: handler(routes.undrainWorker, {
    summary: 'Take a drain back: the worker is given jobs again; one that has already left stays offline',
    body: nothing.optional(),
    replies: { 200: Worker },
    async handle({ scheduler, params, signal }) {
      return { status: 200, json: workerToWire(await scheduler.undrainWorker(workerId(params), signal)) };
    },
  }),

  registerWorker: handler(routes.registerWorker, {
    summary: 'Register a worker with what it can run; every call returns a new id',
    body: Registration,
    replies: { 201: Registered },
    async handle({ scheduler, principal, body, remoteAddress, signal }) {
      const remote = { address: remoteAddress, leaseMs: scheduler.leaseMs, registeredBy: principal.name };
      const queues = claimableQueues(principal, body.queues);
      if (principal.ownWorkersOnly) await scheduler.checkRoomOf(principal.name, signal);
      const worker = await scheduler.register({ ...workerFromWire(body, remote), queues }, signal);
      const json = {
        protocol: PROTOCOL,
        worker_id: String(worker.id),
        lease: worker.leaseMs,
        heartbeat: scheduler.heartbeatMs,
      };
      return { status: 201, json };
    },
  }),

  heartbeatWorker: handler(routes.heartbeatWorker, {
    summary: 'Renew the lease on all jobs that a worker holds; the reply lists the jobs to stop',
    body: Heartbeat.optional(),
    bodyLimit: 16 * 1024 * 1024,
    quiet: true,
    replies: { 200: HeartbeatAnswer },
    async handle(call) {
      const { scheduler, body, signal } = call;
      // No body means {}: renew every lease of the worker.
      const { leases, seen_claim: seenClaim, started } = body ?? { leases: null, seen_claim: null, started: [] };
      const beat = {
        workerId: await ownWorkerId(call),
        leases: leases?.map(({ job_id: jobId, attempt }) => ({ jobId, attempt })) ?? null,
        seenClaim,
        started: started.map(({ job_id: jobId, attempt, started_at: startedAt }) => ({ jobId, attempt, startedAt })),
      };
      const answer = await scheduler.heartbeat(beat, signal);
      if (answer === undefined) {
        throw new WorkronError('worker_not_found', `No worker ${beat.workerId}: register again`);
      }
      const { cancel, lost, drain } = answer;
      return { status: 200, json: { cancel: cancel.map(leaseToWire), lost: lost.map(leaseToWire), drain } };
    },
  }),

  endClaimWait: handler(routes.endClaimWait, {
    summary: 'End the wait of a claim early, because the worker has more resources free than it offered',
    body: EndClaimWait,
    quiet: true,
    replies: { 200: ClaimWaitEnded },
    async handle(call) {
      call.scheduler.endClaimWait(await ownWorkerId(call), call.body.claim_seq);
      return { status: 200, json: { ended: true } };
    },
  }),

  leaveWorker: handler(routes.leaveWorker, {
    summary: 'Deregister a worker that holds no jobs',
    body: anything.optional(),
    replies: { 200: Left },
    async handle(call) {
      await call.scheduler.leave(await ownWorkerId(call), call.signal);
      return { status: 200, json: { left: true } };
    },
  }),

  goneWorker: handler(routes.goneWorker, {
    summary: 'Report that the process of a worker has ended and that none of its commands is left; its jobs go back',
    body: anything.optional(),
    replies: { 200: Gone },
    async handle(call) {
      await call.scheduler.gone(await ownWorkerId(call), call.signal);
      return { status: 200, json: { gone: true } };
    },
  }),

  nudgeWorker: handler(routes.nudgeWorker, {
    summary: 'Stream nudges to a worker: after a cancel or a drain, its next heartbeat should not wait',
    long: true,
    quiet: true,
    replies: { 200: { type: SSE_TYPE } },
    async handle(call) {
      const { scheduler, polls, signal } = call;
      const id = await ownWorkerId(call);
      return { status: 200, type: SSE_TYPE, chunks: releaseAfter(polls.take(), nudges(scheduler, id, signal)) };
    },
  }),
};

function workerId(params: Call['params']): number {
  return pathId(params, 'worker_not_found');
}

/** The worker in the path. Throws `forbidden` if the caller may not act as it. */
async function ownWorkerId(call: Call): Promise<number> {
  const id = workerId(call.params);
  await authorizeWorker(call, id);
  return id;
}

async function* nudges(scheduler: Scheduler, id: number, signal: AbortSignal): AsyncGenerator<string> {
  const wake = new Wake();
  let nudged = false;
  const unsubscribe = scheduler.subscribe((hint) => {
    if (hint.topic !== 'workers' || !hint.ids.includes(id)) return;
    nudged = true;
    wake.fire();
  });
  try {
    yield sseComment('welcome');
    while (!signal.aborted) {
      wake.reset();
      if (!nudged) await wake.sleep(systemClock, HEARTBEAT_MS, signal);
      const due = nudged;
      nudged = false;
      if (!signal.aborted) yield due ? sseEvent({ event: 'nudge', data: '{}' }) : sseComment('alive');
    }
  } finally {
    unsubscribe();
  }
}

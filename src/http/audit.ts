/** Writes down every change that a caller asks for, before it is answered. */

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Route } from '../api/route.ts';
import { routes } from '../api/routes.ts';
import type { Log } from '../ops/log.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import { pathIn } from './path-in.ts';

/** Submissions are many, and what they make is there to be read; a preview and a ticket change nothing. */
const NOT_AUDITED: readonly Route[] = [
  routes.submitJobs,
  routes.rerunJob,
  routes.submitWorkflow,
  routes.rerunWorkflow,
  routes.previewSchedule,
  routes.createTicket,
];
const WRITE_TIMEOUT_MS = 5_000;

/** Whether calls of a route are written down. Those of workers are not. */
export function isAudited(route: Route): boolean {
  return route.method !== 'GET' && route.scope !== null && route.scope !== 'work' && !NOT_AUDITED.includes(route);
}

/** A hook that runs when the result is known and not yet sent. If the entry cannot be written, the log has it. */
export function auditHook({ method, path }: Route, scheduler: Scheduler, log: Log) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    // Without a caller there was no change. The log has refusals.
    if (request.principal === undefined) return;
    const entry = {
      actor: request.principal.name,
      address: request.ip ?? 'local socket',
      action: `${method} ${path}`,
      path: pathIn(request).slice(0, 1_024),
      status: reply.statusCode,
      requestId: request.id,
    };
    const { requestId: request_id, ...shown } = entry;
    log.info({ ...shown, request_id }, 'audit');
    await scheduler.addAudit(entry, AbortSignal.timeout(WRITE_TIMEOUT_MS)).catch((error: unknown) => {
      log.error({ error, ...shown, request_id }, 'an entry of the audit was not written');
    });
  };
}

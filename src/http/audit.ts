/** Writes down every change that a caller asks for, before it is made. */

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Route } from '../api/route.ts';
import { routes } from '../api/routes.ts';
import type { NewAuditEntry } from '../core/audit.ts';
import { isWorkronError, WorkronError } from '../core/error.ts';
import { actionOf } from '../core/job-change.ts';
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

/**
 * Hooks of a route. The entry is written before the change, so a change that cannot be recorded is not made, and a process that
 * dies leaves an entry without a result. The result is added before the reply is sent; if that fails, the log has it.
 */
export function auditHooks(route: Route, scheduler: Scheduler, log: Log) {
  const entryOf = (request: FastifyRequest, status: number | null): NewAuditEntry => ({
    actor: request.principal.name,
    address: request.address,
    action: actionOf(route),
    path: pathIn(request).slice(0, 1_024),
    status,
    requestId: request.id,
  });
  return {
    async preHandler(request: FastifyRequest): Promise<void> {
      try {
        request.auditId = await scheduler.addAudit(entryOf(request, null), AbortSignal.timeout(WRITE_TIMEOUT_MS));
      } catch (cause) {
        if (isWorkronError(cause)) throw cause;
        const detail = 'Nothing was changed: the audit could not be written';
        throw new WorkronError('store_unavailable', detail, { cause });
      }
    },
    async onSend(request: FastifyRequest, reply: FastifyReply): Promise<void> {
      // Without a caller there was no change. The log has refusals.
      if (request.principal === undefined) return;
      const entry = entryOf(request, reply.statusCode);
      const { requestId: request_id, ...shown } = entry;
      log.info({ ...shown, request_id }, 'audit');
      const signal = AbortSignal.timeout(WRITE_TIMEOUT_MS);
      const { auditId } = request;
      const written =
        auditId === null ? scheduler.addAudit(entry, signal) : scheduler.endAudit(auditId, reply.statusCode, signal);
      await written.catch((error: unknown) => {
        log.error({ error, ...shown, request_id }, 'the result of a change was not written to the audit');
      });
    },
  };
}

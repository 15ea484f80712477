/** Calls that are decisions: they go to the audit by the name of their operation, with what they are about. */

import { type RouteName, routes } from '../api/routes.ts';
import type { Decision } from '../core/audit.ts';
import { cleanText } from '../core/text.ts';
import type { Answer, Call, RouteHandler } from './handler.ts';

/** Submissions are many, and what they make is there to be read; a preview and a ticket change nothing. */
const NOT_AUDITED: readonly RouteName[] = ['submitJobs', 'submitWorkflow', 'previewSchedule', 'createTicket'];

/** Whether calls of an operation are written down. Those of workers are not. */
export function isAudited(name: RouteName): boolean {
  const { method, scope } = routes[name];
  return method !== 'GET' && scope !== null && scope !== 'work' && !NOT_AUDITED.includes(name);
}

/** Answers a call, with its entry in the audit. */
export async function perform(handler: RouteHandler, call: Call): Promise<Answer> {
  const isTrial = (call.body as { dry_run?: boolean } | undefined)?.dry_run === true;
  if (!isAudited(handler.name) || isTrial || call.principal.unnamed) return await handler.handle(call);
  return await call.scheduler.decide(decisionOf(handler, call), (entry) => handler.handle({ ...call, entry }));
}

/** `cancelJob` of job 12 is `job.cancel` about `job/12`. Without a body it is refused before it was read. */
export function decisionOf(
  { name, decides }: Pick<RouteHandler, 'name' | 'decides'>,
  call: Pick<Call, 'principal' | 'remoteAddress' | 'requestId' | 'params'> & { body?: unknown },
): Decision {
  const [, named = '', noun = ''] = /^([a-z]+)(.+)$/.exec(name) ?? [];
  const kind = noun.charAt(0).toLowerCase() + noun.slice(1);
  const { params, body, principal, remoteAddress: address, requestId } = call;
  const verb = body === undefined || decides === undefined ? named : decides(body as never);
  const [id = (body as { name?: string } | undefined)?.name] = Object.values(params);
  const subject = id === undefined ? null : cleanText(`${kind}/${id}`).slice(0, 1_024);
  return { actor: principal.name, address, action: `${kind}.${verb}`, subject, requestId };
}

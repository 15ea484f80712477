/** The checks in front of every handler. */

import type { FastifyInstance, FastifyRequest } from 'fastify';
import { PAGE_PATH } from '../api/routes.ts';
import type { Decision } from '../core/audit.ts';
import { isWorkronError, WorkronError } from '../core/error.ts';
import { NEVER } from '../core/never.ts';
import { decisionOf, isAudited } from './audit.ts';
import { authenticate, isStillAccepted, type Principal } from './authenticate.ts';
import { authorize } from './authorize.ts';
import type { Context } from './context.ts';
import { GuessLimit } from './guess-limit.ts';
import type { RouteHandler } from './handler.ts';
import { isForPage } from './page.ts';
import { pathIn } from './path-in.ts';
import { checkHost, checkOrigin, checkTarget, isNavigation } from './same-site.ts';
import type { ServerOptions } from './server.ts';
import { TrustedProxy } from './trusted-proxy.ts';

/** Answers are data: a browser that opens one as a page loads and runs nothing, and shows it in no frame. Pages have their own policy. */
export const DATA_HEADERS = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
  'content-security-policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
};

/** Refuses requests of other sites, and those whose caller may not use the route. */
export function addChecks(
  app: FastifyInstance,
  options: ServerOptions,
  { closing, scheduler, token, local }: Context,
): void {
  const guesses = new GuessLimit(options.maxGuesses);
  const proxy = new TrustedProxy(options.proxy ?? { peers: [], userHeader: null, roles: [] });
  app.addHook('onRequest', async (request, reply) => {
    request.startedAt = performance.now();
    request.address = proxy.addressOf(request.raw, request.ip);
    reply.headers({ 'x-request-id': request.id, ...DATA_HEADERS });
    if (closing.aborted) {
      reply.header('connection', 'close');
      throw new WorkronError('shutting_down', 'The server is shutting down');
    }
    const { handler, page } = request.routeOptions.config;
    const toPage = isForPage(request);
    checkTarget(request.raw);
    if (!((page || toPage) && isNavigation(request.headers))) checkOrigin(request, options.allowedHosts);
    if (token === null && !options.trusted) checkHost(request.headers, options.allowedHosts);
    if (page || handler?.route.scope === null) return;
    if (toPage) return reply.redirect(`${PAGE_PATH}/`, 302);
    const { headers, method } = request;
    try {
      const asked = { headers, method, path: pathIn(request), ticket: takeTicket(request), signal: NEVER };
      const isLocal = local.connections.has(request.raw.socket);
      const user = () => proxy.userOf(request.raw, request.ip);
      const known = { token, access: scheduler, isLocal, user };
      if (options.identify === undefined) {
        const principal = await authenticate(asked, known);
        request.principal = principal;
        request.isStillAccepted = () => isStillAccepted(principal, asked, known);
      } else request.principal = identified(options.identify());
    } catch (error) {
      if (isWorkronError(error, 'unauthorized') && headers.authorization !== undefined)
        guesses.count(request.address, performance.now());
      throw error;
    }
    if (handler === undefined || handler.route.scope === null) return;
    const { scope, forHolder } = handler.route;
    if (forHolder && request.principal.ownWorkersOnly) return;
    try {
      authorize(request.principal, scope);
    } catch (error) {
      if (isAudited(handler.name)) await scheduler.noteRefusal(refusedOf(handler, request), 'forbidden');
      throw error;
    }
  });
}

function refusedOf(handler: RouteHandler, { principal, address, id, params }: FastifyRequest): Decision {
  const named = params as Readonly<Record<string, string>>;
  return decisionOf(handler, { principal, remoteAddress: address, requestId: id, params: named });
}

function identified(principal: Principal | undefined): Principal {
  if (principal !== undefined) return principal;
  throw new WorkronError('forbidden', 'You may not use Workron here');
}

/** Takes a ticket out of the query, which routes do not know. */
function takeTicket({ method, query }: FastifyRequest): string | undefined {
  const fields = query as Record<string, unknown>;
  const { ticket } = fields;
  if (method !== 'GET' || typeof ticket !== 'string') return undefined;
  delete fields['ticket'];
  return ticket;
}

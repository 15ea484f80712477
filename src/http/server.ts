/** The HTTP server: limits and authentication in front, one handler per route behind. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { PROBLEM_TYPE, problemFrom } from '../api/problem.ts';
import { WorkronError } from '../core/error.ts';
import type { Log } from '../ops/log.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import { answerCall } from './answer-call.ts';
import { authenticate, authorize, type Principal } from './authenticate.ts';
import { ConcurrencyLimit } from './concurrency-limit.ts';
import { EventHub } from './event-hub.ts';
import { apiDocument } from './openapi.ts';
import { Page } from './page.ts';
import { errorHeaders, publicError } from './problem-reply.ts';
import { requestIdFrom } from './request-id.ts';
import type { Route, Shared } from './route.ts';
import { ROUTES } from './routes.ts';
import { assertSafeBind } from './safe-bind.ts';
import { checkHost, checkOrigin } from './same-site.ts';
import { leadsToPage, servePage } from './serve-page.ts';

export interface ServerOptions {
  scheduler: Scheduler;
  /** `null`: whoever reaches this machine's own address may do everything. */
  token: string | null;
  /** Somebody in front decides who may call: any Host will do. */
  trusted?: boolean;
  /** Names under which the server may be reached without a token, and whose pages may call it. */
  allowedHosts: readonly string[];
  log: Log;
  version: string;
  /** Epoch milliseconds, for "two hours ago". */
  now?: () => number;
  /** Long polls, and event and log streams, that may be open at once. */
  maxPolls?: number;
  maxStreams?: number;
  /** What stands before the address of a request that another server has received: `/workron`. */
  baseOf?: (request: IncomingMessage) => string;
  /** Where the built dashboard is, unless in its usual place. */
  pageFolder?: string;
}

export interface HttpServer {
  /** Answers requests that somebody else's server has received. */
  mount(): Promise<MountableServer>;
  /** Starts listening; port 0 takes a free one. Refuses what `assertSafeBind` refuses. */
  listen(address: { host: string; port: number }): Promise<ListeningServer>;
}

export interface MountableServer {
  handle(request: IncomingMessage, response: ServerResponse): void;
  inject: FastifyInstance['inject'];
  close(): Promise<void>;
}

export interface ListeningServer {
  url: string;
  port: number;
  /** Takes no more requests, ends long polls and streams at once, lets the others finish. */
  close(): Promise<void>;
}

const DEFAULT_BODY_BYTES = 1024 * 1024;
/** How long requests in flight get after `close`. */
const CLOSE_MS = 5_000;

declare module 'fastify' {
  interface FastifyRequest {
    principal: Principal;
    startedAt: number;
  }
  interface FastifyContextConfig {
    route?: Route;
    /** A file of the dashboard: open to everybody who reaches the server, as there is no data in it. */
    page?: boolean;
  }
}

function noCompiler(): never {
  throw new Error('Routes have no schemas for fastify');
}

export function createServer(options: ServerOptions): HttpServer {
  const { scheduler, token, log } = options;
  const closing = new AbortController();
  const shared = {
    scheduler,
    version: options.version,
    token,
    now: options.now ?? Date.now,
    events: new EventHub(scheduler),
    polls: new ConcurrencyLimit(options.maxPolls ?? 5_000),
    streams: new ConcurrencyLimit(options.maxStreams ?? 1_000),
    document: memo(() => apiDocument(ROUTES, options.version)),
    closing: closing.signal,
  } satisfies Shared & { closing: AbortSignal };
  const app = fastify({
    logger: false,
    bodyLimit: DEFAULT_BODY_BYTES,
    exposeHeadRoutes: false,
    return503OnClosing: false,
    keepAliveTimeout: 72_000,
    requestTimeout: 300_000,
    http: { headersTimeout: 20_000 },
    genReqId: (raw) => requestIdFrom(raw.headers['x-request-id']),
    routerOptions: { maxParamLength: 1_024, ignoreTrailingSlash: true },
    frameworkErrors: (error, request, reply) => void sendProblem(error, request, reply),
    // No route has a schema of fastify's kind, as zod checks what comes; else it would load its compilers at every start.
    schemaController: { compilersFactory: { buildValidator: noCompiler, buildSerializer: noCompiler } },
  });
  app.decorateRequest('principal');
  app.decorateRequest('startedAt', 0);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));

  app.addHook('onRequest', async (request, reply) => {
    request.startedAt = performance.now();
    reply.headers({
      'x-request-id': request.id,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
    });
    if (closing.signal.aborted) {
      reply.header('connection', 'close');
      throw new WorkronError('shutting_down', 'The server is shutting down');
    }
    checkOrigin(request.headers, options.allowedHosts);
    if (token === null && !options.trusted) checkHost(request.headers, options.allowedHosts);
    const route = request.routeOptions.config.route;
    if (request.routeOptions.config.page || route?.scope === null) return;
    if (leadsToPage(request)) return reply.redirect('/ui/', 302);
    request.principal = authenticate(request.headers, token, shared.now());
    if (route?.scope) authorize(request.principal, route.scope);
  });
  const { baseOf } = options;
  if (baseOf !== undefined) {
    app.addHook('onSend', async (request, reply) => {
      const location = reply.getHeader('location');
      if (typeof location === 'string') reply.header('location', baseOf(request.raw) + location);
    });
  }
  app.addHook('onResponse', async (request, reply) => {
    if (request.routeOptions.config.route?.quiet && reply.statusCode < 500) return;
    const line = {
      request_id: request.id,
      method: request.method,
      path: pathOf(request),
      status: reply.statusCode,
      ms: Math.round(performance.now() - request.startedAt),
    };
    if (reply.statusCode === 401 || reply.statusCode === 403) log.warn(line, 'request refused');
    else log.debug(line, 'request');
  });
  app.setErrorHandler((error, request, reply) => sendProblem(error, request, reply));
  app.setNotFoundHandler((request, reply) => sendProblem(unknownAddress(request, reply), request, reply));

  for (const route of ROUTES) {
    app.route({
      method: route.method,
      url: route.path,
      config: { route },
      bodyLimit: route.bodyLimit ?? DEFAULT_BODY_BYTES,
      exposeHeadRoute: route.method === 'GET' && !route.long,
      handler: (request, reply) => answerCall(route, request, reply, shared, log),
    });
  }

  servePage(app, new Page(options.pageFolder));

  function sendProblem(thrown: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const error = publicError(thrown);
    if (error.code === 'internal') {
      log.error({ request_id: request.id, path: pathOf(request), error: thrown }, 'request failed');
    }
    return reply
      .code(error.httpStatus)
      .headers(errorHeaders(error))
      .type(PROBLEM_TYPE)
      .send(JSON.stringify(problemFrom(error, request.id)));
  }

  async function close(): Promise<void> {
    closing.abort(new WorkronError('shutting_down', 'The server is shutting down'));
    shared.events.close();
    // Connections fall idle one by one as their last answers go out; each would else be kept open for a next request.
    const sweep = setInterval(() => app.server.closeIdleConnections(), 20);
    const force = setTimeout(() => app.server.closeAllConnections(), CLOSE_MS);
    await app.close();
    clearInterval(sweep);
    clearTimeout(force);
  }

  return {
    async mount() {
      await app.ready();
      return { handle: (request, response) => app.routing(request, response), inject: app.inject.bind(app), close };
    },
    async listen({ host, port }) {
      assertSafeBind(host, token);
      try {
        await app.listen({ host, port });
      } catch (error) {
        await close();
        throw error;
      }
      const bound = app.server.address() as AddressInfo;
      return { url: `http://${urlHost(host)}:${bound.port}`, port: bound.port, close };
    },
  };
}

/** 405 where the address exists for other methods, else 404. */
function unknownAddress(request: FastifyRequest, reply: FastifyReply): WorkronError {
  const path = pathOf(request);
  const methods = ROUTES.filter((route) => matches(route.path, path)).map((route) => route.method);
  if (methods.length === 0) {
    return new WorkronError('not_found', `There is nothing at ${path}; GET /openapi.json lists what there is`);
  }
  const allowed = [...new Set(methods)].join(', ');
  reply.header('allow', allowed);
  return new WorkronError('method_not_allowed', `${path} takes ${allowed}, not ${request.method}`);
}

function matches(pattern: string, path: string): boolean {
  const parts = pattern.split('/');
  const given = path.replace(/\/$/, '').split('/');
  return (
    parts.length === given.length &&
    parts.every((part, i) => (part.startsWith(':') ? given[i] !== '' : part === given[i]))
  );
}

function pathOf(request: FastifyRequest): string {
  return request.url.split('?', 1)[0] ?? '/';
}

function urlHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}

function memo<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** The HTTP server: limits and authentication in front, the handlers of the routes behind. */

import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Finding } from '../api/doctor.ts';
import { PROBLEM_TYPE, problemFrom } from '../api/problem.ts';
import { PAGE_PATH, routes } from '../api/routes.ts';
import { WorkronError } from '../core/error.ts';
import type { Log } from '../ops/log.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import { answerCall } from './answer-call.ts';
import { configured, linkPath, type Principal } from './authenticate.ts';
import { addChecks, DATA_HEADERS } from './checks.ts';
import { type Context, contextOf } from './context.ts';
import { serveDocs } from './docs.ts';
import type { RouteHandler } from './handler.ts';
import { HANDLERS } from './handlers.ts';
import { Page, servePage } from './page.ts';
import { matches, pathIn } from './path-in.ts';
import { errorHeaders, publicError } from './problem-reply.ts';
import { assertSafeBind } from './safe-bind.ts';
import type { ServerCertificate } from './server-certificate.ts';
import type { ProxyOptions } from './trusted-proxy.ts';
import { urlOf } from './url-of.ts';

export interface ServerOptions {
  scheduler: Scheduler;
  /** `null`: everyone who can reach the server may do everything. */
  token: string | null;
  /** The application in front authenticates callers: the Host is not checked. */
  trusted?: boolean;
  /** Proxies whose headers are believed. */
  proxy?: ProxyOptions;
  /** The application in front says who calls: `undefined` refuses. Without it, a mounted server lets everybody do everything. */
  identify?: () => Principal | undefined;
  /** Host names that are accepted without a token, and whose pages may call the server. */
  allowedHosts: readonly string[];
  /** The server speaks https only. */
  certificate?: ServerCertificate | null;
  log: Log;
  version: string;
  /** Examines the machine and the store, for `GET /doctor`. */
  examine: () => Promise<Finding[]>;
  /** Returns epoch milliseconds, to resolve times such as "two hours ago". */
  now?: () => number;
  /** The number of wrong tokens that an address may send at once. */
  maxGuesses?: number;
  /** The number of long polls that may be open at once. */
  maxPolls?: number;
  /** The number of event and log streams that may be open at once. */
  maxStreams?: number;
  /** Returns the prefix of a request that another server has received, such as `/workron`. */
  baseOf?: (request: IncomingMessage) => string;
  /** The folder of the built dashboard, if not the default. */
  pageFolder?: string;
}

interface HttpServer {
  /** Answers requests that another server has received. */
  mount(): Promise<MountableServer>;
  /** Starts to listen; port 0 takes a free one. Throws what `assertSafeBind` throws. */
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
  /** Listens on a socket of the file system as well. Without `needsToken`, who can open its folder may do everything. */
  listenOn(path: string, options: { needsToken: boolean }): Promise<void>;
  /** Returns the path of a link that logs in with the server's token, once. */
  loginPath(): Promise<string>;
  /** Accepts no more requests, ends long polls and streams at once, waits for other requests to finish. */
  close(): Promise<void>;
}

/** More than all long polls and streams together. Further connections are closed at once. */
const MAX_CONNECTIONS = 10_000;
/** For the link that is printed when the server has started. */
const FIRST_LINK_MS = 3_600_000;
const DEFAULT_BODY_BYTES = 1024 * 1024;
const TIMEOUTS = { keepAliveTimeout: 72_000, requestTimeout: 300_000 };
const HEADERS_TIMEOUT = { headersTimeout: 20_000 };
/** The time that requests in flight get after `close`. */
const CLOSE_MS = 5_000;

declare module 'fastify' {
  interface FastifyRequest {
    principal: Principal;
    /** Whether the caller would be accepted now. An application in front decides once for each request. */
    isStillAccepted: () => Promise<boolean>;
    /** Where the request comes from. */
    address: string;
    startedAt: number;
  }
  interface FastifyContextConfig {
    handler?: RouteHandler;
    /** A file of the dashboard: needs no token, since it contains no data. */
    page?: boolean;
  }
}

export function createServer(options: ServerOptions): HttpServer {
  const { scheduler, token, log } = options;
  const closing = new AbortController();
  const context = contextOf(options, closing.signal);
  const app = createApp(log, options.certificate ?? null);
  addChecks(app, options, context);
  addRequestLog(app, scheduler, log);
  if (options.baseOf !== undefined) addLocationPrefix(app, options.baseOf);
  for (const handler of HANDLERS) addHandler(app, handler, context, log);
  servePage(app, new Page(options.pageFolder));
  serveDocs(app);

  async function close(): Promise<void> {
    closing.abort(new WorkronError('shutting_down', 'The server is shutting down'));
    context.events.close();
    // Connections become idle one by one as their last replies are sent. Without this they would stay open.
    const sweep = setInterval(() => app.server.closeIdleConnections(), 20);
    const force = setTimeout(() => app.server.closeAllConnections(), CLOSE_MS);
    await Promise.all([app.close(), context.local.close(CLOSE_MS)]);
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
      app.server.maxConnections = MAX_CONNECTIONS;
      try {
        await app.listen({ host, port });
      } catch (error) {
        await close();
        throw error;
      }
      const bound = app.server.address() as AddressInfo;
      const handle = app.routing.bind(app);
      const listenOn: ListeningServer['listenOn'] = (path, { needsToken }) =>
        context.local.listen(path, { needsToken, handle });
      const loginPath = async () =>
        linkPath(await scheduler.createLink(configured(token as string).owner, FIRST_LINK_MS, closing.signal));
      const url = urlOf(options.certificate, host, bound.port);
      return { url, port: bound.port, listenOn, loginPath, close };
    },
  };
}

function createApp(log: Log, certificate: ServerCertificate | null): FastifyInstance {
  const send = (thrown: unknown, request: FastifyRequest, reply: FastifyReply) =>
    sendProblem(thrown, request, reply, log);
  const app = fastify({
    logger: false,
    bodyLimit: DEFAULT_BODY_BYTES,
    exposeHeadRoutes: false,
    return503OnClosing: false,
    ...TIMEOUTS,
    http: HEADERS_TIMEOUT,
    ...(certificate === null ? {} : { serverFactory: certificate.factory({ ...TIMEOUTS, ...HEADERS_TIMEOUT }) }),
    genReqId: (raw) => requestIdFrom(raw.headers['x-request-id']),
    routerOptions: { maxParamLength: 1_024, ignoreTrailingSlash: true },
    frameworkErrors: (error, request, reply) => void send(error, request, reply.headers(DATA_HEADERS)),
    // zod checks requests, so no route has a schema for fastify. Without this, fastify loads its compilers at every start.
    schemaController: { compilersFactory: { buildValidator: noCompiler, buildSerializer: noCompiler } },
  });
  app.decorateRequest('principal');
  app.decorateRequest('isStillAccepted', async () => true);
  app.decorateRequest('startedAt', 0);
  app.decorateRequest('address', '');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  app.setErrorHandler(send);
  app.setNotFoundHandler((request, reply) => send(unknownAddress(request, reply), request, reply));
  return app;
}

function noCompiler(): never {
  throw new Error('Routes have no schemas for fastify');
}

function addRequestLog(app: FastifyInstance, scheduler: Scheduler, log: Log): void {
  app.addHook('onResponse', async (request, reply) => {
    scheduler.countRequest(routeOf(request), reply.statusCode);
    if (request.routeOptions.config.handler?.quiet && reply.statusCode < 500) return;
    const line = {
      request_id: request.id,
      method: request.method,
      path: pathIn(request),
      status: reply.statusCode,
      ms: Math.round(performance.now() - request.startedAt),
    };
    if (reply.statusCode === 401 || reply.statusCode === 403) log.warn(line, 'request refused');
    else log.debug(line, 'request');
  });
}

/** The route of a request for metrics: one of a fixed set, whatever callers ask for. */
function routeOf({ routeOptions: { config } }: FastifyRequest): string {
  if (config.handler === undefined) return config.page ? PAGE_PATH : 'unknown';
  const { method, path } = config.handler.route;
  return `${method} ${path}`;
}

function addLocationPrefix(app: FastifyInstance, baseOf: (request: IncomingMessage) => string): void {
  app.addHook('onSend', async (request, reply) => {
    const location = reply.getHeader('location');
    if (typeof location === 'string') reply.header('location', baseOf(request.raw) + location);
  });
}

function addHandler(app: FastifyInstance, handler: RouteHandler, context: Context, log: Log): void {
  if (!handler.streamed) return addRoute(app, handler, context, log);
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, body, done) => done(null, body));
    addRoute(scope, handler, context, log);
  });
}

function addRoute(app: FastifyInstance, handler: RouteHandler, context: Context, log: Log): void {
  const { method, path } = handler.route;
  app.route({
    method,
    url: path,
    config: { handler },
    bodyLimit: handler.bodyLimit ?? DEFAULT_BODY_BYTES,
    exposeHeadRoute: method === 'GET' && !handler.long,
    handler: (request, reply) => answerCall(handler, request, reply, context, log),
  });
}

function sendProblem(thrown: unknown, request: FastifyRequest, reply: FastifyReply, log: Log): FastifyReply {
  const error = publicError(thrown);
  if (error.code === 'internal') {
    log.error({ request_id: request.id, path: pathIn(request), error: thrown }, 'request failed');
  }
  return reply
    .code(error.httpStatus)
    .headers(errorHeaders(error))
    .type(PROBLEM_TYPE)
    .send(JSON.stringify(problemFrom(error, request.id)));
}

/** Returns the caller's `X-Request-ID` if it is fit for a log line, else a new id. */
function requestIdFrom(header: string | string[] | undefined): string {
  return typeof header === 'string' && /^[\w.:-]{1,128}$/.test(header) ? header : randomUUID();
}

/** Returns 405 if the path exists for other methods, else 404. */
function unknownAddress(request: FastifyRequest, reply: FastifyReply): WorkronError {
  const path = pathIn(request);
  const known = HANDLERS.filter(({ route }) => matches(route.path, path)).map(({ route }) => route.method);
  if (known.length === 0) {
    return new WorkronError(
      'not_found',
      `There is nothing at ${path}; GET ${routes.readDocument.path} lists what there is`,
    );
  }
  const allowed = [...new Set(known)].join(', ');
  reply.header('allow', allowed);
  return new WorkronError('method_not_allowed', `${path} takes ${allowed}, not ${request.method}`);
}

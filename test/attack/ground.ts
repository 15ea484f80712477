/** Where attacks are tried: the same server on each store, and reached in each way. */

import { once } from 'node:events';
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import express from 'express';
import type { TokenRole } from '../../src/core/token.ts';
import type { MountUser } from '../../src/http/mounted.ts';
import { ServerCertificate } from '../../src/http/server-certificate.ts';
import { open as openLibrary } from '../../src/index.ts';
import { systemClock } from '../../src/ops/clock.ts';
import { silentLog } from '../../src/ops/log.ts';
import { openMemory } from '../../src/store/memory/open.ts';
import type { Store } from '../../src/store/store.ts';
import { first, writePair } from '../kit/certificates.ts';
import { openTestServer, type TestServer } from '../kit/http.ts';
import { openTestPostgres } from '../kit/postgres.ts';
import { openTestSqlite } from '../kit/sqlite.ts';
import { temporaryFolder } from '../kit/workron-process.ts';
import { ADMIN_TOKEN, type Caller, type Target } from './attack.ts';

export interface Ground {
  /** Without a token. */
  open: Target;
  /** With the token of the attacks. */
  guarded: Target;
  /** A server whose proxy is the peer of the attacks, and one whose proxy is elsewhere. */
  proxies?: { near: Target; far: Target };
  /** A server behind a proxy that names users, and has named none here. */
  signingIn?: Target;
  /** Another server on the store of `guarded`, started now. Without it, callers are not known by tokens. */
  again?: () => Promise<Target>;
}

type Stack = AsyncDisposableStack;
type Options = NonNullable<Parameters<typeof openTestServer>[0]>;
/** How a server is reached. */
type Way = (server: TestServer, stack: Stack) => Promise<Target>;

/** Wrong tokens are counted for each address, and all attacks come from one. */
const PATIENT = { token: ADMIN_TOKEN, maxGuesses: 1_000 };
const PROXY = { userHeader: 'x-forwarded-email', roles: [{ pattern: '*@example.org', role: 'admin' as TokenRole }] };

const directly: Way = async (server) => server;

async function ground(stack: Stack, wanted: { store: Store; way?: Way; more?: Options }): Promise<Ground> {
  const { store, way = directly, more = {} } = wanted;
  const serve = async (options: Options) => await way(stack.use(await openTestServer({ ...more, ...options })), stack);
  return {
    open: await serve({}),
    guarded: await serve({ ...PATIENT, store }),
    proxies: {
      near: await serve({ ...PATIENT, proxy: { ...PROXY, peers: ['127.0.0.1'] } }),
      far: await serve({ ...PATIENT, proxy: { ...PROXY, peers: ['10.9.8.7'] } }),
    },
    again: () => serve({ ...PATIENT, store }),
  };
}

const memory = () => openMemory({ clock: systemClock });

/** The calls about access are answered late, as by a database far away: whatever is in flight meets whatever happens. */
function answeringLate(store: Store): Store {
  const late = ['validTokens', 'useSession', 'takeSession', 'createSession', 'createToken', 'rotateToken'] as const;
  const entries = late.map((name) => {
    const call = store[name] as (...args: unknown[]) => Promise<unknown>;
    const slow = async (...args: unknown[]) => {
      const answer = await call(...args);
      await sleep(5 + Math.random() * 40);
      return answer;
    };
    return [name, slow];
  });
  return { ...store, ...(Object.fromEntries(entries) as Partial<Store>) };
}

/** `call` over https: fetch trusts no authority of a test. */
const overTls: Way = async (server) => {
  const { port } = server;
  return {
    port,
    dial: () => connectTls({ port, host: '127.0.0.1', ca: first.cert }),
    async call(method, path, body, headers = {}) {
      const payload = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
      const type = payload === undefined ? {} : { 'content-type': 'application/json' };
      const options = { port, host: '127.0.0.1', ca: first.cert, method, path, headers: { ...type, ...headers } };
      const request = httpsRequest(options).end(payload);
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      const answer = await text(response);
      const given = new Headers();
      for (const [name, value] of Object.entries(response.headers)) given.set(name, String(value));
      const isJson = /\bjson(;|$)/.test(given.get('content-type') ?? '');
      return {
        status: response.statusCode ?? 0,
        headers: given,
        body: isJson && answer !== '' ? JSON.parse(answer) : answer,
      };
    },
  };
};

/** Behind a reverse proxy that keeps its connections, passes Host on, and removes the header that names users. */
const behindProxy: Way = async (server, stack) => {
  const { Agent } = await import('node:http');
  const agent = new Agent({ keepAlive: true, maxSockets: 4 });
  stack.defer(() => agent.destroy());
  const proxy = await listening(stack, (incoming, outgoing) => {
    const { method, url: path, rawHeaders, headers, socket } = incoming;
    const names = rawHeaders.filter((_, place) => place % 2 === 0);
    const passed = names.flatMap((name, place) => {
      if (/^(connection|keep-alive|upgrade|te|trailer|x-forwarded-(for|email))$/i.test(name)) return [];
      return [name, rawHeaders[place * 2 + 1] as string];
    });
    passed.push('x-forwarded-for', [headers['x-forwarded-for'], socket.remoteAddress].filter(Boolean).join(', '));
    const onward = httpRequest({ host: '127.0.0.1', port: server.port, agent, method, path, headers: passed as never });
    onward.on('error', () => socket.destroy());
    onward.on('response', (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
      answer.pipe(outgoing);
    });
    incoming.pipe(onward);
  });
  return targetAt(proxy);
};

/** Inside of an application, which knows its users itself. */
async function mounted(stack: Stack, host: (api: Mounts) => RequestListener): Promise<Ground> {
  const workron = stack.use(await openLibrary('memory:', { log: 'silent' }));
  const users = new Map<string, MountUser>([[ADMIN_TOKEN, { name: 'admin', role: 'admin' }]]);
  const authorize = (request: IncomingMessage | Request) => {
    const header = request instanceof Request ? request.headers.get('authorization') : request.headers.authorization;
    return users.get(/^Bearer (.*)$/.exec(header ?? '')?.[1] ?? '') ?? null;
  };
  const admit = ({ name: user, role, queues = [] }: Caller) => {
    users.set(`token-of-${user}`, { name: user, role, ...(queues.length === 0 ? {} : { queues }) });
    return `token-of-${user}`;
  };
  const serve = async (options: object) => {
    const api = await workron.mount({ prefix: PREFIX, ...options });
    return { ...targetAt(await listening(stack, host(api)), PREFIX), unknown: 403, resolvesDots: host === inFetch };
  };
  return { open: await serve({}), guarded: { ...(await serve({ authorize })), admit } };
}

const PREFIX = '/api/workron';
type Mounts = Awaited<ReturnType<Awaited<ReturnType<typeof openLibrary>>['mount']>>;

/** In Express, behind a parser that has read the body. */
function inExpress({ node }: Mounts): RequestListener {
  const app = express();
  // It writes no errors to the terminal then.
  app.set('env', 'test');
  app.use(express.json({ limit: '1mb' }));
  app.use((request, response) => node(request, response));
  return app as RequestListener;
}

/** By requests as fetch has them. */
function inFetch({ fetch: answer }: Mounts): RequestListener {
  const respond = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    try {
      const { method = 'GET', url, headers } = incoming;
      const given = new Headers();
      for (const [name, value] of Object.entries(headers))
        for (const one of [value].flat()) given.append(name, String(one));
      const init = { method, headers: given, duplex: 'half' as const };
      const request = new Request(
        `http://${headers.host ?? 'none'}${url}`,
        ['GET', 'HEAD'].includes(method) ? init : { ...init, body: Readable.toWeb(incoming) as never },
      );
      const response = await answer(request);
      outgoing.writeHead(response.status, Object.fromEntries(response.headers));
      outgoing.end(Buffer.from(await response.arrayBuffer()));
    } catch {
      outgoing.writeHead(400).end();
    }
  };
  return (incoming, outgoing) => void respond(incoming, outgoing);
}

async function listening(stack: Stack, listener: RequestListener): Promise<number> {
  const server = createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  stack.defer(() => {
    server.close();
    server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
}

/** A server at a port of this machine. */
export function targetAt(port: number, prefix = ''): Target {
  return {
    port,
    prefix,
    async call(method, path, body, headers = {}) {
      const response = await fetch(`http://127.0.0.1:${port}${prefix}${path}`, {
        method,
        headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      const answer = await response.text();
      const isJson = /\bjson(;|$)/.test(response.headers.get('content-type') ?? '');
      const { status } = response;
      return { status, headers: response.headers, body: isJson && answer !== '' ? JSON.parse(answer) : answer };
    },
  };
}

type Open = (stack: Stack) => Promise<Ground>;

/** The ground of `npm test`, and the one that races are tried on. */
export const onMemory: Open = (stack) => ground(stack, { store: memory() });
export const onLateStore: Open = (stack) => ground(stack, { store: answeringLate(memory()) });

export const GROUNDS: Readonly<Record<string, Open>> = {
  memory: onMemory,
  SQLite: async (stack) => ground(stack, { store: stack.use(await openTestSqlite()).store }),
  PostgreSQL: async (stack) => ground(stack, { store: stack.use(await openTestPostgres()).store }),
  async TLS(stack) {
    const { cert, key } = writePair(stack.use(await temporaryFolder()).path, first);
    const certificate = stack.use(new ServerCertificate({ cert, key }, silentLog));
    return ground(stack, { store: memory(), way: overTls, more: { certificate } });
  },
  async 'behind a proxy'(stack) {
    const { proxies, ...rest } = await ground(stack, { store: memory(), way: behindProxy });
    return { ...rest, ...(proxies === undefined ? {} : { signingIn: proxies.near }) };
  },
  'mounted in Express': (stack) => mounted(stack, inExpress),
  'mounted as fetch': (stack) => mounted(stack, inFetch),
};

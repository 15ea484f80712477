/** The HTTP API inside a server of the application, which authenticates callers itself. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { http } from '../ops/node-http.ts';
import { MountUsers } from './mount-users.ts';
import type { Mounted, MountOptions } from './mounted.ts';
import { createServer, type MountableServer, type ServerOptions } from './server.ts';

type Mountable = Pick<ServerOptions, 'scheduler' | 'log' | 'version' | 'examine'>;

const OUTSIDE = 'There is nothing at this address\n';
const FAILED = 'The application could not say who you are\n';
const METHODS = ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT'] as const;

export async function mountServer(
  mountable: Mountable,
  { prefix = '', authorize }: MountOptions = {},
): Promise<Mounted> {
  const bases = new WeakMap<IncomingMessage, string>();
  const baseOf = (request: IncomingMessage) => bases.get(request) ?? prefix;
  const users = authorize === undefined ? undefined : new MountUsers(authorize);
  const options = { ...mountable, token: null, allowedHosts: [], trusted: true, baseOf };
  const identify = users === undefined ? {} : { identify: () => users.current() };
  const server = await createServer({ ...options, ...identify }).mount();
  /** The path below the prefix; `undefined` if it is not below it. */
  const below = (url: string): string | undefined => {
    if (prefix === '') return url;
    if (!url.startsWith(prefix)) return undefined;
    const rest = url.slice(prefix.length);
    if (rest === '' || rest.startsWith('?')) return `/${rest}`;
    return rest.startsWith('/') ? rest : undefined;
  };
  return {
    node(request, response) {
      const { originalUrl = request.url ?? '/' } = request as { originalUrl?: string };
      const whole = unread(request);
      if (whole === undefined) return refuseRead(response);
      const url = below(request.url ?? '/');
      if (url === undefined) return refuseOutside(response);
      bases.set(whole, baseIn(originalUrl, url));
      const answer = (): void => {
        whole.url = url;
        server.handle(whole, response);
      };
      if (users === undefined) return answer();
      users.admit(request, answer).catch((error: unknown) => {
        mountable.log.error({ error }, 'authorize of mount failed');
        response.writeHead(500, { 'content-type': 'text/plain' }).end(FAILED);
      });
    },
    async fetch(request) {
      const { pathname, search, host } = new URL(request.url);
      const method = METHODS.find((known) => known === request.method);
      if (method === undefined) return new Response(null, { status: 405 });
      const path = below(pathname);
      if (path === undefined) return new Response(OUTSIDE, { status: 404, headers: { 'content-type': 'text/plain' } });
      const body = request.body === null ? undefined : Buffer.from(await request.arrayBuffer());
      const ask = () =>
        server.inject({
          method,
          url: path + search,
          headers: { host, ...Object.fromEntries(request.headers) },
          payloadAsStream: true,
          signal: request.signal,
          ...(body === undefined ? {} : { payload: body }),
        });
      return responseOf(await (users === undefined ? ask() : users.admit(request, ask)), request.method);
    },
    close: () => server.close(),
  };
}

type Answer = Pick<Awaited<ReturnType<MountableServer['inject']>>, 'headers' | 'statusCode' | 'stream'>;

function responseOf({ headers: given, statusCode: status, stream }: Answer, method: string): Response {
  const headers = new Headers();
  for (const [name, value] of Object.entries(given)) {
    for (const each of Array.isArray(value) ? value : [value])
      if (each !== undefined) headers.append(name, String(each));
  }
  const empty = method === 'HEAD' || status === 204 || status === 304;
  return new Response(empty ? null : (Readable.toWeb(stream()) as ReadableStream<Uint8Array>), { status, headers });
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** Returns the prefix that the host's router has removed: for `/workron/jobs` and `/jobs`, `/workron`. */
function baseIn(original: string, inner: string): string {
  const [path, rest] = [pathOf(original), pathOf(inner)];
  if (path.endsWith(rest)) return path.slice(0, path.length - rest.length);
  return rest === '/' ? path : '';
}

function pathOf(url: string): string {
  return url.split('?', 1)[0] as string;
}

/** Answers a request for an address that is not the API's. */
function refuseOutside(response: ServerResponse): void {
  response.writeHead(404, { 'content-type': 'text/plain' }).end(OUTSIDE);
}

/** Answers a request whose body was read and not passed on by the host. */
function refuseRead(response: ServerResponse): void {
  const detail = 'Something in front of Workron has read the body of this request and kept it';
  response.writeHead(500, { 'content-type': 'text/plain' }).end(`${detail}\n`);
}

/** Returns a request whose body can be read, also if a parser of the host has read it before; `undefined` if the body is lost. */
function unread(request: IncomingMessage): IncomingMessage | undefined {
  const { body } = request as { body?: unknown };
  if (!request.readableEnded) return request;
  if (body === undefined) return hasBody(request) ? undefined : request;
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  const again = new http.IncomingMessage(request.socket);
  again.method = request.method ?? 'GET';
  again.headers = { ...request.headers, 'content-length': String(bytes.length) };
  delete again.headers['content-encoding'];
  delete again.headers['transfer-encoding'];
  again.httpVersion = request.httpVersion;
  // Without this, its end would look like a broken connection.
  again.complete = true;
  again.push(bytes);
  again.push(null);
  return again;
}

/** The HTTP API inside a server of the application, which authenticates callers itself. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { Log } from '../ops/log.ts';
import { http } from '../ops/node-http.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import type { Mounted, MountOptions } from './mounted.ts';
import { createServer } from './server.ts';

interface Mountable {
  scheduler: Scheduler;
  log: Log;
  version: string;
}

const OUTSIDE = 'There is nothing at this address\n';
const METHODS = ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT'] as const;

export async function mountServer(
  { scheduler, log, version }: Mountable,
  { prefix = '' }: MountOptions = {},
): Promise<Mounted> {
  const bases = new WeakMap<IncomingMessage, string>();
  const baseOf = (request: IncomingMessage) => bases.get(request) ?? prefix;
  const options = { scheduler, token: null, allowedHosts: [], trusted: true, log, version, baseOf };
  const server = await createServer(options).mount();
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
      whole.url = url;
      bases.set(whole, baseIn(originalUrl, whole.url));
      server.handle(whole, response);
    },
    async fetch(request) {
      const { pathname, search, host } = new URL(request.url);
      const method = METHODS.find((known) => known === request.method);
      if (method === undefined) return new Response(null, { status: 405 });
      const path = below(pathname);
      if (path === undefined) return new Response(OUTSIDE, { status: 404, headers: { 'content-type': 'text/plain' } });
      const body = request.body === null ? undefined : Buffer.from(await request.arrayBuffer());
      const answer = await server.inject({
        method,
        url: path + search,
        headers: { host, ...Object.fromEntries(request.headers) },
        payloadAsStream: true,
        signal: request.signal,
        ...(body === undefined ? {} : { payload: body }),
      });
      const headers = new Headers();
      for (const [name, value] of Object.entries(answer.headers)) {
        for (const each of Array.isArray(value) ? value : [value])
          if (each !== undefined) headers.append(name, String(each));
      }
      const empty = request.method === 'HEAD' || answer.statusCode === 204 || answer.statusCode === 304;
      const stream = empty ? null : (Readable.toWeb(answer.stream()) as ReadableStream<Uint8Array>);
      return new Response(stream, { status: answer.statusCode, headers });
    },
    close: () => server.close(),
  };
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

/** The HTTP API inside a server of the application's own, which has asked the caller who they are. */

import { IncomingMessage, type ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { Log } from '../ops/log.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import { createServer } from './server.ts';

export interface MountOptions {
  /** What comes before the API's own addresses, where the host's router does not take it away: `/workron`. */
  prefix?: string;
}

export interface Mounted {
  /** For node:http, Express, Connect: `app.use('/workron', node)`, before or after body parsers. */
  readonly node: (request: IncomingMessage, response: ServerResponse) => void;
  /** For Next, Hono, Bun and others that speak in `Request` and `Response`. */
  readonly fetch: (request: Request) => Promise<Response>;
  /** Ends streams and long polls; `stop` does it too. */
  close(): Promise<void>;
}

export interface Mountable {
  scheduler: Scheduler;
  log: Log;
  version: string;
}

const METHODS = ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT'] as const;

export async function mountServer(
  { scheduler, log, version }: Mountable,
  { prefix = '' }: MountOptions = {},
): Promise<Mounted> {
  const server = await createServer({ scheduler, token: null, allowedHosts: [], trusted: true, log, version }).mount();
  const below = (url: string) => (prefix !== '' && url.startsWith(prefix) ? url.slice(prefix.length) || '/' : url);
  return {
    node(request, response) {
      const whole = unread(request);
      whole.url = below(request.url ?? '/');
      server.handle(whole, response);
    },
    async fetch(request) {
      const { pathname, search, host } = new URL(request.url);
      const method = METHODS.find((known) => known === request.method);
      if (method === undefined) return new Response(null, { status: 405 });
      const body = request.body === null ? undefined : Buffer.from(await request.arrayBuffer());
      const answer = await server.inject({
        method,
        url: below(pathname) + search,
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

/** A body that a parser in front has read is given back; else whoever reads it again would wait for ever. */
function unread(request: IncomingMessage): IncomingMessage {
  const { body } = request as { body?: unknown };
  if (body === undefined || !request.readableEnded) return request;
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  const again = new IncomingMessage(request.socket);
  again.method = request.method ?? 'GET';
  again.headers = { ...request.headers, 'content-length': String(bytes.length) };
  delete again.headers['content-encoding'];
  delete again.headers['transfer-encoding'];
  again.httpVersion = request.httpVersion;
  // Or its end would be taken for a broken connection.
  again.complete = true;
  again.push(bytes);
  again.push(null);
  return again;
}

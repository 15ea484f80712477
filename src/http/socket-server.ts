/** The same API on sockets of the file system. The folder of one decides who can connect, so its callers may need no token. */

import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { http } from '../ops/node-http.ts';

interface SocketOptions {
  needsToken: boolean;
  handle: (request: IncomingMessage, response: ServerResponse) => void;
}

/** Further connections are closed at once. */
const MAX_CONNECTIONS = 10_000;

export class SocketServer {
  /** The connections whose callers need no token. */
  readonly connections = new WeakSet<object>();
  readonly #servers: Server[] = [];

  /** Every user who can open the folder may connect to a socket that needs a token. */
  async listen(path: string, { needsToken, handle }: SocketOptions): Promise<void> {
    const server = http.createServer({ keepAliveTimeout: 72_000, requestTimeout: 300_000 }, handle);
    if (!needsToken) server.on('connection', (socket) => this.connections.add(socket));
    server.maxConnections = MAX_CONNECTIONS;
    server.listen({ path, readableAll: needsToken, writableAll: needsToken });
    await once(server, 'listening');
    this.#servers.push(server);
  }

  /** Accepts no more connections; ends those that are idle, and after `graceMs` all. */
  async close(graceMs: number): Promise<void> {
    await Promise.all(this.#servers.map((server) => closeServer(server, graceMs)));
  }
}

async function closeServer(server: Server, graceMs: number): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  const sweep = setInterval(() => server.closeIdleConnections(), 20);
  const force = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearInterval(sweep);
  clearTimeout(force);
}

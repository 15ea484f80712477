/** The same API on a socket of the file system. Its folder decides who can connect, so a caller needs no token. */

import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { http } from '../ops/node-http.ts';

export class SocketServer {
  /** The connections that came through the socket. */
  readonly connections = new WeakSet<object>();
  #server: Server | undefined;

  async listen(path: string, handle: (request: IncomingMessage, response: ServerResponse) => void): Promise<void> {
    const server = http.createServer({ keepAliveTimeout: 72_000, requestTimeout: 300_000 }, handle);
    server.on('connection', (socket) => this.connections.add(socket));
    server.listen(path);
    await once(server, 'listening');
    this.#server = server;
  }

  /** Accepts no more connections; ends those that are idle, and after `graceMs` all. */
  async close(graceMs: number): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    const closed = once(server, 'close');
    server.close();
    const sweep = setInterval(() => server.closeIdleConnections(), 20);
    const force = setTimeout(() => server.closeAllConnections(), graceMs);
    await closed;
    clearInterval(sweep);
    clearTimeout(force);
  }
}

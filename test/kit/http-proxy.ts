/** A proxy in front of a scheduler that can lose replies, delay them, or stop forwarding. */

import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';

export type Verdict =
  | 'pass'
  /** The request arrives, the reply is lost. */
  | 'lose answer'
  /** The request is lost. */
  | 'lose request'
  /** The reply is sent when this promise resolves. */
  | Promise<void>;

export interface HttpProxy extends AsyncDisposable {
  url: string;
  /** Decides about each request; passes all by default. */
  judge: (method: string, path: string, body: string) => Verdict;
}

export async function startHttpProxy(target: string): Promise<HttpProxy> {
  const { hostname, port } = new URL(target);
  const proxy = { judge: () => 'pass' } as unknown as HttpProxy;
  const sockets = new Set<Socket>();
  const server = createServer((incoming: IncomingMessage, outgoing: ServerResponse) => {
    const parts: Buffer[] = [];
    incoming.on('data', (part: Buffer) => parts.push(part));
    incoming.on('end', () => {
      const body = Buffer.concat(parts);
      const verdict = proxy.judge(incoming.method ?? '', incoming.url ?? '', body.toString());
      if (verdict === 'lose request') return incoming.socket.destroy();
      const onward = httpRequest(
        {
          hostname,
          port,
          method: incoming.method,
          path: incoming.url,
          headers: { ...incoming.headers, host: `${hostname}:${port}` },
        },
        (answer) => {
          const answerParts: Buffer[] = [];
          answer.on('data', (part: Buffer) => answerParts.push(part));
          answer.on('end', () => {
            const reply = () => {
              if (outgoing.destroyed) return;
              outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
              outgoing.end(Buffer.concat(answerParts));
            };
            if (verdict === 'lose answer') incoming.socket.destroy();
            else if (verdict === 'pass') reply();
            else void verdict.then(reply);
          });
        },
      );
      onward.on('error', () => incoming.socket.destroy());
      incoming.socket.on('close', () => {
        if (verdict === 'pass') onward.destroy();
      });
      return onward.end(body);
    });
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  proxy.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  proxy[Symbol.asyncDispose] = async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  };
  return proxy;
}

export interface TcpProxy extends AsyncDisposable {
  port: number;
  /** Stops forwarding in both directions without closing sockets, so that they are half open. */
  freeze(): void;
  /** Forwards new connections again; frozen ones stay frozen. */
  thaw(): void;
  /** Closes all connections. */
  reset(): void;
}

export async function startTcpProxy(targetPort: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let frozen = false;
  const server = createTcpServer((client) => {
    const upstream = connect(targetPort, '127.0.0.1');
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => sockets.delete(socket));
    }
    let stuck = frozen;
    const pass = (from: Socket, to: Socket) => {
      from.on('data', (data) => {
        stuck ||= frozen;
        if (!stuck) to.write(data);
      });
      from.on('close', () => {
        if (!stuck) to.destroy();
      });
    };
    pass(client, upstream);
    pass(upstream, client);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    freeze: () => {
      frozen = true;
    },
    thaw: () => {
      frozen = false;
    },
    reset: () => {
      for (const socket of sockets) socket.destroy();
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

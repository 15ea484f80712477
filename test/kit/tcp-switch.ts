/** One address in front of several servers, as a managed database has: connections go to the server that is chosen. */

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface TcpSwitch extends AsyncDisposable {
  port: number;
  /** Ends all connections; new ones go there. `null`: new ones are refused. */
  to(port: number | null): void;
  /** New connections go there; those that are open stay. */
  newTo(port: number): void;
}

export async function startTcpSwitch(first: number): Promise<TcpSwitch> {
  let target: number | null = first;
  const sockets = new Set<Socket>();
  const track = (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket)).on('error', () => socket.destroy());
  };
  const server = createServer((socket) => {
    track(socket);
    if (target === null) return void socket.destroy();
    const onward = connect(target, '127.0.0.1');
    track(onward);
    socket.once('close', () => onward.destroy());
    onward.once('close', () => socket.destroy());
    socket.pipe(onward).pipe(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    to(port) {
      target = port;
      for (const socket of sockets) socket.destroy();
    },
    newTo(port) {
      target = port;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

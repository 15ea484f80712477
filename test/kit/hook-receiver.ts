/** A real HTTP server on the loopback that records all requests. */

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface Received {
  path: string;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

export interface HookReceiver extends AsyncDisposable {
  url: string;
  port: number;
  received: Received[];
  /** The next replies; afterwards 204. */
  answers: { status: number; headers?: Record<string, string> }[];
}

export async function openHookReceiver(): Promise<HookReceiver> {
  const received: Received[] = [];
  const answers: HookReceiver['answers'] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      received.push({ path: request.url ?? '', headers: request.headers, body });
      const { status, headers = {} } = answers.shift() ?? { status: 204 };
      response.writeHead(status, headers).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    received,
    answers,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** The text that the signature of a webhook is made of. */
export function signedText({ headers, body }: Pick<Received, 'headers' | 'body'>): string {
  return `${String(headers['x-workron-timestamp'])}.${String(headers['x-workron-delivery'])}.${body}`;
}

import { WorkronError } from '../core/error.ts';
import type { HttpReply, HttpRequest, Transport } from './http-client.ts';

const NO_SOCKET = "fetch cannot use a socket: open('unix:…') can";

/** The transport to a server. An address that `fetch` cannot use is refused. */
export function fetchTransportTo(url: string): Transport {
  if (url.startsWith('unix:')) throw new WorkronError('bad_request', NO_SOCKET);
  return fetchTransport;
}

/** Sends requests by `fetch`: works in browsers and edge runtimes. */
export async function fetchTransport(url: string, { method, headers, body, signal }: HttpRequest): Promise<HttpReply> {
  const response = await fetch(url, {
    method,
    headers,
    // Only workers stream bodies, and they use node:http.
    ...(body === undefined ? {} : { body: body as string | Uint8Array<ArrayBuffer> }),
    ...(signal === undefined ? {} : { signal }),
  });
  return {
    status: response.status,
    statusText: response.statusText,
    header: (name) => response.headers.get(name),
    text: () => response.text(),
    body: chunksOf(response),
  };
}

/** Yields the chunks through a reader, because not every browser can iterate over a stream. */
async function* chunksOf({ body }: Response): AsyncGenerator<Uint8Array> {
  if (body === null) return;
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

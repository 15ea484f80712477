/** One HTTP request, by node:http: `fetch` takes longer to load than most commands take to run. */

import type { IncomingMessage } from 'node:http';
import { http, https } from '../ops/node-http.ts';

/** A server that has said nothing for so long will not. */
const SILENCE_MS = 300_000;

export interface HttpRequest {
  method: string;
  headers: Readonly<Record<string, string>>;
  body: string | undefined;
  signal: AbortSignal | undefined;
}

export interface HttpAnswer {
  status: number;
  statusText: string;
  /** Where it sends us instead. Nobody goes there: a token is for the address that was given. */
  location: string | undefined;
  /** Read to its end, or given up. */
  body: AsyncIterable<Uint8Array>;
}

/** Rejects where nothing answers; with the signal's reason where that has come first, as the body does later. */
export async function sendRequest(address: string, { body, signal, ...request }: HttpRequest): Promise<HttpAnswer> {
  const url = new URL(address);
  const headers: Record<string, string | number> = { ...request.headers };
  if (body !== undefined) headers['content-length'] = Buffer.byteLength(body);
  const options = { ...request, headers, ...(signal === undefined ? {} : { signal }) };
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const sent = (url.protocol === 'https:' ? https() : http).request(url, options, resolve);
      sent.setTimeout(SILENCE_MS, () => sent.destroy(new Error(`nothing came for ${SILENCE_MS / 1_000} s`)));
      sent.on('error', reject);
      sent.end(body);
    });
    const { statusCode = 0, statusMessage = '' } = response;
    const { location } = response.headers;
    return { status: statusCode, statusText: statusMessage, location, body: bytesOf(response, signal) };
  } catch (error) {
    throw signal?.aborted ? signal.reason : error;
  }
}

export async function textOf({ body }: HttpAnswer): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

async function* bytesOf(response: IncomingMessage, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of response) yield chunk as Buffer;
  } catch (error) {
    throw signal?.aborted ? signal.reason : error;
  }
}

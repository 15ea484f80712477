/**
 * HTTP requests by node:http and node:https, without an ES import, which would read all their exports and so load Node's
 * `fetch`: that takes longer than most CLI commands run.
 */

import type { Agent, IncomingMessage } from 'node:http';
import type * as Https from 'node:https';
import { pipeline, Readable } from 'node:stream';
import { requestTarget } from '../core/socket-address.ts';
import { explainCertificate } from './certificate-error.ts';
import { checkSocket } from './private-socket.ts';
import { hintAtHttps } from './scheme-hint.ts';

export const http = process.getBuiltinModule('node:http');

/** Loaded on demand, because TLS is slow to load. */
export function https(): typeof Https {
  return process.getBuiltinModule('node:https');
}

interface NodeRequest {
  method: string;
  headers: Readonly<Record<string, string>>;
  body: string | Uint8Array | AsyncIterable<Uint8Array> | undefined;
  signal: AbortSignal | undefined;
}

interface TransportOptions {
  /** A connection without a byte for this long is dropped. */
  silenceMs?: number;
  /** The path of the server's socket, in place of the host and port of the address. */
  socketPath?: string;
  /** The only authorities whose certificates are trusted, in PEM; the public ones unless given. */
  ca?: string | null;
  /** Connections to keep open; those of the whole process unless given. */
  agents?: KeptConnections;
}

/** Returns the transport of an HTTP client, for addresses of sockets too. It rejects if no reply arrives. */
export function nodeTransport({ silenceMs, agents, socketPath: ownSocket, ca = null }: TransportOptions = {}) {
  return async (address: string, { body, signal, ...request }: NodeRequest) => {
    const target = requestTarget(address);
    if (target.socketPath !== undefined) checkSocket(target.socketPath);
    const socketPath = target.socketPath ?? ownSocket;
    const url = new URL(target.url);
    // TLS is for the port; the socket is protected by its folder.
    if (socketPath !== undefined) url.protocol = 'http:';
    const length = isWhole(body) ? { 'content-length': String(Buffer.byteLength(body)) } : {};
    const options = {
      method: request.method,
      headers: { ...request.headers, ...length },
      ...(signal === undefined ? {} : { signal }),
      ...(socketPath === undefined ? {} : { socketPath }),
      ...(ca === null ? {} : { ca }),
      ...(agents === undefined ? {} : { agent: agents.of(url.protocol) }),
    };
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const sent = moduleFor(url.protocol).request(url, options, resolve);
      if (silenceMs !== undefined) {
        sent.setTimeout(silenceMs, () => sent.destroy(new Error(`nothing received for ${silenceMs / 1_000} s`)));
      }
      sent.on('error', (error) => {
        // A kept connection may just be old.
        const isNew = socketPath === undefined && !sent.reusedSocket;
        reject(explainCertificate(isNew ? hintAtHttps(error, address) : error));
      });
      if (body === undefined || isWhole(body)) sent.end(body);
      // An error of the body breaks the request off, and so becomes its error.
      else pipeline(Readable.from(body), sent, () => undefined);
    });
    return {
      status: response.statusCode ?? 0,
      statusText: response.statusMessage ?? '',
      header: (name: string) => String(response.headers[name] ?? '') || null,
      text: () => textOf(response),
      body: response as AsyncIterable<Buffer>,
    };
  };
}

function isWhole(body: NodeRequest['body']): body is string | Uint8Array {
  return typeof body === 'string' || body instanceof Uint8Array;
}

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

/** Connections that are kept open between requests. */
export class KeptConnections implements Disposable {
  readonly #agents = new Map<string, Agent>();

  of(protocol: string): Agent {
    const agent =
      this.#agents.get(protocol) ?? new (moduleFor(protocol).Agent)({ keepAlive: true, maxFreeSockets: 16 });
    this.#agents.set(protocol, agent);
    return agent;
  }

  [Symbol.dispose](): void {
    for (const agent of this.#agents.values()) agent.destroy();
  }
}

function moduleFor(protocol: string) {
  return protocol === 'https:' ? https() : http;
}

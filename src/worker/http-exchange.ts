/** Requests to a scheduler, or to the next one where it cannot be reached. */

import type { Agent, IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { errorFromProblem } from '../api/problem.ts';
import { WorkronError } from '../core/error.ts';
import { http, https } from '../ops/node-http.ts';

export interface ExchangeOptions {
  /** Schedulers of one installation, best first. */
  urls: readonly string[];
  token: string | null;
  userAgent: string;
}

export interface HttpRequest {
  method: 'GET' | 'POST';
  path: string;
  body?: { type: string; data: string | Uint8Array };
  accept?: string;
  /** Without an answer until then, the request is given up and its connection dropped. */
  deadlineMs: number;
}

/**
 * Keeps connections open and remembers which scheduler answered last. Every request that a worker makes may be sent
 * twice without harm, so one that broke off is sent again, to each scheduler at most once.
 */
export class HttpExchange implements Disposable {
  readonly #options: ExchangeOptions;
  /** By protocol. */
  readonly #agents = new Map<string, Agent>();
  #current = 0;

  constructor(options: ExchangeOptions) {
    this.#options = options;
  }

  /** The decoded JSON of a success. Errors are those that the scheduler named, or `unreachable`. */
  async json(request: HttpRequest, signal: AbortSignal): Promise<unknown> {
    const deadline = AbortSignal.timeout(request.deadlineMs);
    const either = AbortSignal.any([signal, deadline]);
    const { urls } = this.#options;
    // One more than there are schedulers: a connection that was kept open may have been closed by the other side.
    for (let tried = 0; ; tried += 1) {
      const url = urls[this.#current % urls.length] as string;
      try {
        const response = await this.#send(url, request, either);
        return await answerOf(response);
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof WorkronError && !isAway(error)) throw error;
        this.#current = (urls.indexOf(url) + 1) % urls.length;
        if (deadline.aborted || tried >= urls.length) throw unreachable(url, error, deadline.aborted);
      }
    }
  }

  /** A stream of text, from the scheduler that answered last. Rejects or breaks off when nothing came for `deadlineMs`. */
  async *text(request: HttpRequest, signal: AbortSignal): AsyncGenerator<string> {
    const url = this.#options.urls[this.#current % this.#options.urls.length] as string;
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), request.deadlineMs);
    const response = await this.#send(url, request, AbortSignal.any([signal, late.signal])).finally(() => {
      clearTimeout(timer);
    });
    if (response.statusCode !== 200) throw await errorOf(response);
    response.setEncoding('utf8');
    response.socket.setTimeout(request.deadlineMs, () => response.destroy(new Error('nothing came for too long')));
    for await (const text of response) yield text as string;
  }

  [Symbol.dispose](): void {
    for (const agent of this.#agents.values()) agent.destroy();
  }

  #send(base: string, request: HttpRequest, signal: AbortSignal): Promise<IncomingMessage> {
    const url = new URL(base.replace(/\/+$/, '') + request.path);
    const means = url.protocol === 'https:' ? https() : http;
    const headers: OutgoingHttpHeaders = { accept: request.accept ?? 'application/json' };
    headers['user-agent'] = this.#options.userAgent;
    if (this.#options.token !== null) headers['authorization'] = `Bearer ${this.#options.token}`;
    if (request.body !== undefined) {
      headers['content-type'] = request.body.type;
      headers['content-length'] = Buffer.byteLength(request.body.data);
    }
    const agent = this.#agents.get(url.protocol) ?? new means.Agent({ keepAlive: true, maxFreeSockets: 16 });
    this.#agents.set(url.protocol, agent);
    return new Promise((resolve, reject) => {
      const sent = means.request(url, { method: request.method, headers, agent, signal }, resolve);
      sent.on('error', reject);
      sent.end(request.body?.data);
    });
  }
}

async function answerOf(response: IncomingMessage): Promise<unknown> {
  if (response.statusCode === undefined || response.statusCode >= 300) throw await errorOf(response);
  return JSON.parse(await bodyOf(response));
}

async function errorOf(response: IncomingMessage): Promise<WorkronError> {
  const body = await bodyOf(response);
  const retryAfter = Number(response.headers['retry-after']);
  return errorFromProblem(
    response.statusCode ?? 500,
    parsed(body),
    Number.isFinite(retryAfter) ? retryAfter : undefined,
  );
}

async function bodyOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Another scheduler of the installation may well be there. */
function isAway(error: WorkronError): boolean {
  return error.code === 'shutting_down' || error.code === 'store_unavailable';
}

function unreachable(url: string, cause: unknown, late: boolean): WorkronError {
  if (cause instanceof WorkronError) return cause;
  const why = late ? 'no answer in time' : cause instanceof Error ? cause.message : String(cause);
  return new WorkronError('unreachable', `The scheduler at ${url} cannot be reached: ${why}`, { cause });
}

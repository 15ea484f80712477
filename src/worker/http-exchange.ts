/** Requests of a worker to a scheduler, with fail-over to the next one. */

import { type HttpCall, HttpClient, textChunks } from '../api/http-client.ts';
import type { ReplyOf, Route } from '../api/route.ts';
import { isWorkronError, type WorkronError } from '../core/error.ts';
import { KeptConnections, nodeTransport } from '../ops/node-http.ts';

export interface ExchangeOptions {
  /** Schedulers of one installation, preferred first. */
  urls: readonly string[];
  token: string | null;
  userAgent: string;
}

export type Exchange<R extends Route> = Omit<HttpCall<R>, 'signal' | 'timeoutMs'> & {
  /** If there is no reply by then, the request is given up and its connection dropped. */
  deadlineMs: number;
};

/**
 * Keeps connections open and remembers which scheduler answered last. Every request of a worker can be sent twice without
 * harm, so one that broke off is sent again, to each scheduler at most once.
 */
export class HttpExchange implements Disposable {
  readonly #connections = new KeptConnections();
  readonly #clients: readonly HttpClient[];
  /** The scheduler that answered last. */
  #current = 0;

  constructor({ urls, token, userAgent }: ExchangeOptions) {
    const transport = nodeTransport({ agents: this.#connections });
    const headers = { 'user-agent': userAgent };
    this.#clients = urls.map((url) => new HttpClient({ url, token, transport, headers }));
  }

  /** Returns the decoded reply. Rejects with the error that the scheduler named, or `unreachable`. */
  async json<R extends Route>(route: R, call: Exchange<R>, signal: AbortSignal): Promise<ReplyOf<R>> {
    const { deadlineMs, ...request } = call;
    const deadline = AbortSignal.timeout(deadlineMs);
    const either = AbortSignal.any([signal, deadline]);
    // One try more than there are schedulers: the other side may have closed a connection that was kept open.
    for (let tried = 0; ; tried += 1) {
      const place = this.#current;
      const client = this.#clients[place] as HttpClient;
      try {
        return await client.json(route, { ...request, signal: either } as unknown as HttpCall<R>);
      } catch (error) {
        signal.throwIfAborted();
        if (isWorkronError(error) && !isAway(error)) throw error;
        this.#current = (place + 1) % this.#clients.length;
        if (!deadline.aborted && tried < this.#clients.length) continue;
        throw isWorkronError(error) ? error : client.unreachable(new Error('no answer in time'));
      }
    }
  }

  /** Yields a stream of text from the scheduler that answered last. Rejects if nothing arrives for `deadlineMs`. */
  async *text<R extends Route>(route: R, call: Exchange<R>, signal: AbortSignal): AsyncGenerator<string> {
    const { deadlineMs, ...request } = call;
    const silence = new AbortController();
    const timer = setTimeout(() => silence.abort(new Error('nothing received for too long')), deadlineMs);
    const either = AbortSignal.any([signal, silence.signal]);
    try {
      const client = this.#clients[this.#current] as HttpClient;
      const { body } = await client.open(route, { ...request, signal: either } as unknown as HttpCall<R>);
      for await (const text of textChunks(body)) {
        timer.refresh();
        yield text;
      }
    } finally {
      clearTimeout(timer);
    }
  }

  [Symbol.dispose](): void {
    this.#connections[Symbol.dispose]();
  }
}

/** True if another scheduler of the installation may be able to answer. */
function isAway({ code }: WorkronError): boolean {
  return code === 'unreachable' || code === 'shutting_down' || code === 'store_unavailable';
}

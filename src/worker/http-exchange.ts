/** Requests of a worker to a scheduler, with fail-over to the next one. */

import { type HttpCall, HttpClient, type HttpReply, textChunks } from '../api/http-client.ts';
import type { ReplyOf, Route } from '../api/route.ts';
import { KeptConnections, nodeTransport } from '../ops/node-http.ts';
import { FailOver } from './fail-over.ts';

export interface ExchangeOptions {
  /** Schedulers of one installation, preferred first. */
  urls: readonly string[];
  token: string | null;
  /** The only authorities whose certificates are trusted, in PEM; `null`: the public ones. */
  ca: string | null;
  userAgent: string;
}

export type Exchange<R extends Route> = Omit<HttpCall<R>, 'signal' | 'timeoutMs'> & {
  /** If there is no reply by then, the request is given up and its connection dropped. */
  deadlineMs: number;
};

/** Keeps connections open and asks the scheduler that answered last. */
export class HttpExchange implements Disposable {
  readonly #connections = new KeptConnections();
  readonly #clients: readonly HttpClient[];
  readonly #failOver: FailOver;

  constructor({ urls, token, ca, userAgent }: ExchangeOptions) {
    const transport = nodeTransport({ agents: this.#connections, ca });
    const headers = { 'user-agent': userAgent };
    this.#clients = urls.map((url) => new HttpClient({ url, token, transport, headers }));
    this.#failOver = new FailOver(urls.length);
  }

  /** Returns the decoded reply. Rejects with the error that the scheduler named, or `unreachable`. */
  async json<R extends Route>(route: R, call: Exchange<R>, signal: AbortSignal): Promise<ReplyOf<R>> {
    const { deadlineMs, ...request } = call;
    return await this.#failOver.send(
      {
        deadlineMs,
        send: (place, either) =>
          this.#client(place).json(route, { ...request, signal: either } as unknown as HttpCall<R>),
        unanswered: (place) => this.#client(place).unreachable(new Error('no answer in time')),
      },
      signal,
    );
  }

  /** Yields a stream of text from the scheduler that answered last. Rejects if nothing arrives for `deadlineMs`. */
  async *text<R extends Route>(route: R, call: Exchange<R>, signal: AbortSignal): AsyncGenerator<string> {
    const { body } = await this.open(route, call, signal);
    yield* textChunks(body);
  }

  /** Returns a reply whose body is still to be read; reading it rejects if nothing arrives for `deadlineMs`. */
  async open<R extends Route>(
    route: R,
    { deadlineMs, ...request }: Exchange<R>,
    signal: AbortSignal,
  ): Promise<Pick<HttpReply, 'header' | 'body'>> {
    const silence = new AbortController();
    const timer = setTimeout(() => silence.abort(new Error('nothing received for too long')), deadlineMs);
    const either = AbortSignal.any([signal, silence.signal]);
    try {
      const call = { ...request, signal: either } as unknown as HttpCall<R>;
      const reply = await this.#client(this.#failOver.current).open(route, call);
      return { header: (name) => reply.header(name), body: refreshing(timer, reply.body) };
    } catch (error) {
      clearTimeout(timer);
      throw error;
    }
  }

  [Symbol.dispose](): void {
    this.#connections[Symbol.dispose]();
  }

  #client(place: number): HttpClient {
    return this.#clients[place] as HttpClient;
  }
}

/** Starts the timer again with every chunk, and stops it at the end. */
async function* refreshing(timer: NodeJS.Timeout, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of chunks) {
      timer.refresh();
      yield chunk;
    }
  } finally {
    clearTimeout(timer);
  }
}

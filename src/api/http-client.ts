/**
 * The HTTP client behind `Client`, the command line and workers. It knows routes, tokens, problems and timeouts; the
 * transport only moves bytes: `fetch` in fetch-transport.ts, node:http in ops/node-http.ts.
 */

import { WorkronError } from '../core/error.ts';
import { requestAddress } from '../core/socket-address.ts';
import type { Sender } from './calls.ts';
import { errorFromProblem, isProblem, parseProblem, type ReceivedProblem } from './problem.ts';
import { type BodyOf, type ParamsOf, pathOf, type QueryOf, type ReplyOf, type Route } from './route.ts';

export interface HttpRequest {
  method: string;
  headers: Readonly<Record<string, string>>;
  body: HttpBody | undefined;
  signal: AbortSignal | undefined;
}

/** A body that is streamed has its length in the headers. */
export type HttpBody = string | Uint8Array | AsyncIterable<Uint8Array>;

export interface HttpReply {
  status: number;
  statusText: string;
  header(name: string): string | null;
  /** Reads the whole body. */
  text(): Promise<string>;
  /** The body as it arrives, in place of `text`. Must be read to its end or cancelled. */
  body: AsyncIterable<Uint8Array>;
}

/** Sends one request. Rejects if no reply arrives. */
export type Transport = (url: string, request: HttpRequest) => Promise<HttpReply>;

/** A reply whose status is not a success. */
export interface Refusal {
  status: number;
  statusText: string;
  /** Redirects are not followed: a token is for the address that was configured. */
  location: string | null;
  retryAfterSeconds: number | undefined;
  problem: ReceivedProblem | undefined;
}

/** The errors that calls reject with. */
export interface ErrorFactory {
  refused(refusal: Refusal): Error;
  /** No complete reply arrived from `url`. */
  unreachable(url: string, cause: unknown): Error;
}

interface HttpClientOptions {
  url: string;
  token: string | null;
  transport: Transport;
  /** Sent with every request. */
  headers?: Readonly<Record<string, string>>;
  errors?: ErrorFactory;
}

/** The parameters of the path, if it has any. */
export type Params<R extends Route> = keyof ParamsOf<R> extends never ? object : { params: ParamsOf<R> };
/** Numbers are written out; what is `undefined` is left out. */
type Query<T> = { readonly [Field in keyof T]: T[Field] | number | undefined };

export type HttpCall<R extends Route> = Params<R> & {
  query?: Query<QueryOf<R>>;
  body?: BodyOf<R>;
  /** A body that is serialized already, in place of `body`. */
  payload?: { type: string; data: HttpBody };
  headers?: Readonly<Record<string, string>>;
  signal?: AbortSignal | undefined;
  /** If the reply is not complete by then, the call rejects as unreachable. */
  timeoutMs?: number | undefined;
};

/** `WorkronError`s: the code that the server named, or `unreachable`. */
const workronErrors: ErrorFactory = {
  refused: ({ status, problem, retryAfterSeconds }) => errorFromProblem(status, problem, retryAfterSeconds),
  unreachable(url, cause) {
    // fetch hides the reason in the cause of its error.
    const reason = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
    const why = reason instanceof Error ? reason.message : String(reason);
    return new WorkronError('unreachable', `No Workron answers at ${url}: ${why}`, { cause });
  },
};

export class HttpClient implements Sender {
  readonly url: string;
  readonly #options: HttpClientOptions;
  readonly #errors: ErrorFactory;

  constructor(options: HttpClientOptions) {
    this.url = options.url.replace(/\/+$/, '');
    this.#options = options;
    this.#errors = options.errors ?? workronErrors;
  }

  /** Returns the decoded body of a success, or of a report. An abort by the caller rejects with its reason. */
  async json<R extends Route>(route: R, call: HttpCall<R>): Promise<ReplyOf<R>> {
    const isAccepted = (status: number) => isSuccess(status) || (route.report === true && status === 503);
    const read = async (reply: HttpReply) => ({ reply, value: JSON.parse(await reply.text()) as unknown });
    const { reply, value } = await this.#exchange(route, call, read, isAccepted);
    if (!isSuccess(reply.status) && isProblem(value)) throw this.#errors.refused(refusalOf(reply, value));
    return value as ReplyOf<R>;
  }

  /** Returns a success whose body is still to be read. */
  open<R extends Route>(route: R, call: HttpCall<R>): Promise<HttpReply> {
    return this.#exchange(route, call, async (reply) => ({ ...reply, body: abortable(reply.body, call.signal) }));
  }

  /** The error for a reply that broke off while the caller read it. */
  unreachable(cause: unknown): Error {
    return this.#errors.unreachable(this.url, cause);
  }

  /** Sends a request and reads its reply with `read`, unless the status is refused. */
  async #exchange<R extends Route, T>(
    route: R,
    call: HttpCall<R>,
    read: (reply: HttpReply) => Promise<T>,
    isAccepted = isSuccess,
  ): Promise<T> {
    const { signal, timeoutMs } = call;
    const timeout = timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs);
    let refusal: Refusal;
    try {
      const reply = await this.#send(route, call, either(signal, timeout));
      if (isAccepted(reply.status)) return await read(reply);
      refusal = refusalOf(reply, parseProblem(await reply.text()));
    } catch (error) {
      throw signal?.aborted ? signal.reason : this.unreachable(timeout?.aborted ? timeout.reason : error);
    }
    throw this.#errors.refused(refusal);
  }

  #send<R extends Route>(route: R, call: HttpCall<R>, signal: AbortSignal | undefined): Promise<HttpReply> {
    const { token, transport, headers } = this.#options;
    const { params = {} as ParamsOf<R> } = call as { params?: ParamsOf<R> };
    const payload = call.payload ?? jsonPayload(call.body);
    return transport(requestAddress(this.url, pathOf(route, params) + queryString(call.query)), {
      method: route.method,
      headers: {
        accept: 'application/json',
        ...(payload === undefined ? {} : { 'content-type': payload.type }),
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...headers,
        ...call.headers,
      },
      body: payload?.data,
      signal,
    });
  }
}

/** The text of a body as it arrives; a character may be cut between two chunks. */
export async function* textChunks(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for await (const chunk of body) yield decoder.decode(chunk, { stream: true });
}

/** The same bytes; an abort rejects with the reason of `signal`, whatever error the transport has for it. */
async function* abortable(
  body: AsyncIterable<Uint8Array>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    throw signal?.aborted ? signal.reason : error;
  }
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

function either(a: AbortSignal | undefined, b: AbortSignal | undefined): AbortSignal | undefined {
  return a === undefined || b === undefined ? (a ?? b) : AbortSignal.any([a, b]);
}

function refusalOf(reply: HttpReply, problem: ReceivedProblem | undefined): Refusal {
  const { status, statusText } = reply;
  const retryAfter = Number(reply.header('retry-after') ?? Number.NaN);
  const retryAfterSeconds = Number.isFinite(retryAfter) ? retryAfter : undefined;
  return { status, statusText, location: reply.header('location'), retryAfterSeconds, problem };
}

function jsonPayload(body: unknown): { type: string; data: string } | undefined {
  return body === undefined ? undefined : { type: 'application/json', data: JSON.stringify(body) };
}

function queryString(query: object = {}): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query) as [string, unknown][]) {
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each !== undefined) params.append(name, String(each));
    }
  }
  return params.size === 0 ? '' : `?${params.toString()}`;
}

/** Reads a list to its end, page by page. */
export async function allPages<T>(
  read: (cursor: string | undefined) => Promise<{ items: T[]; next_cursor: string | null }>,
): Promise<T[]> {
  const items: T[] = [];
  let cursor: string | undefined;
  for (;;) {
    const page = await read(cursor);
    items.push(...page.items);
    if (page.next_cursor === null) return items;
    cursor = page.next_cursor;
  }
}

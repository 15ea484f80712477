/**
 * The way in for callers of this process: operations by the table of routes, with the same checks, audit and answers as for requests.
 */

import type { Sender } from '../api/calls.ts';
import type { HttpCall } from '../api/http-client.ts';
import type { Route } from '../api/route.ts';
import { messageOf, WorkronError } from '../core/error.ts';
import { NEVER } from '../core/never.ts';
import { bodyOf, queryOf } from './answer-call.ts';
import { perform } from './audit.ts';
import { localCaller } from './authenticate.ts';
import { contextOf } from './context.ts';
import { type Answer, type Call, type RouteHandler, Serialized } from './handler.ts';
import { HANDLERS } from './handlers.ts';
import type { ServerOptions } from './server.ts';

const handlers: ReadonlyMap<Route, RouteHandler> = new Map(HANDLERS.map((handler) => [handler.route, handler]));
type Served = Pick<ServerOptions, 'scheduler' | 'log' | 'version' | 'examine'>;

const NO_BYTES = Buffer.alloc(0);

export interface Door extends Sender {
  /** Ends streams and long polls. Later calls are refused. */
  close(): Promise<void>;
}

/** `actor`: who it is, on what is submitted and in the audit; `null`: nobody is named, and nothing is on record. */
export function openDoor({ log, ...served }: Served, actor: string | null): Door {
  const closing = new AbortController();
  const context = contextOf({ ...served, log, token: null, allowedHosts: [] }, closing.signal);
  const principal = localCaller(actor);
  const ask = async (route: Route, { query, body, headers = {}, signal = NEVER, ...call }: HttpCall<Route>) => {
    const handler = handlers.get(route) as RouteHandler;
    const bytes = body === undefined ? NO_BYTES : Buffer.from(JSON.stringify(body));
    const { params = {} } = call as { params?: Readonly<Record<string, string>> };
    const asked: Call = {
      ...context,
      route,
      params,
      query: queryOf(handler, textsOf(query)),
      body: bodyOf(handler, bytes, undefined),
      bytes,
      stream: chunksOf(''),
      headers,
      isEncrypted: true,
      principal,
      remoteAddress: 'library',
      requestId: '',
      log,
      entry: null,
      signal: handler.long ? AbortSignal.any([signal, context.closing]) : signal,
    };
    signal.throwIfAborted();
    closing.signal.throwIfAborted();
    return await perform(handler, asked);
  };
  return {
    json: async (route, call) => (await jsonIn(await ask(route, call))) as never,
    open: async (route, call) => ({ body: bytesIn(await ask(route, call)) }),
    async close() {
      closing.abort(new WorkronError('shutting_down', 'Workron was stopped'));
      context.events.close();
    },
    unreachable: (cause) => new WorkronError('internal', `The stream broke off: ${messageOf(cause)}`, { cause }),
  };
}

/** The query as a request has it. */
function textsOf(query: object = {}): Record<string, string | string[]> {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    given.map(([name, value]) => [name, Array.isArray(value) ? value.map(String) : String(value)]),
  );
}

async function jsonIn(answer: Answer): Promise<unknown> {
  if (!('json' in answer)) throw new Error('expected an operation that answers with JSON');
  if (!(answer.json instanceof Serialized)) return answer.json;
  const { content } = answer.json;
  return JSON.parse(typeof content === 'string' ? content : (await Array.fromAsync(content)).join(''));
}

async function* bytesIn(answer: Answer): AsyncGenerator<Uint8Array> {
  const chunks = 'chunks' in answer ? answer.chunks : chunksOf('text' in answer ? answer.text : '');
  for await (const chunk of chunks) yield typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
}

async function* chunksOf(text: string): AsyncGenerator<Uint8Array> {
  if (text !== '') yield Buffer.from(text);
}

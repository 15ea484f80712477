/**
 * The operations of the API as methods, derived from the table of routes. They take the parameter of the path, then one object with
 * the fields of query or body, to which `signal` and `idempotencyKey` may be added.
 */

import type { Camel } from './case.ts';
import type { CutEvent, Event, OutputEvent } from './event.ts';
import { readEvents, type StreamEvent } from './event-stream.ts';
import { type HttpCall, type HttpReply, textChunks } from './http-client.ts';
import type { Job } from './job.ts';
import type { BodyOf, QueryOf, ReplyOf, Route } from './route.ts';

/** Who answers: a server behind HTTP, or the scheduler of this process. */
export interface Sender {
  json<R extends Route>(route: R, call: HttpCall<R>): Promise<ReplyOf<R>>;
  /** Returns a success whose body is still to be read. */
  open<R extends Route>(route: R, call: HttpCall<R>): Promise<Pick<HttpReply, 'body'>>;
  /** The error for an answer that broke off. */
  unreachable(cause: unknown): Error;
}

export interface CallOptions {
  signal?: AbortSignal | undefined;
  /** A repeated call with the same key and content gets the first answer and submits nothing. */
  idempotencyKey?: string | undefined;
}

/** How messages are written in TypeScript: as on the wire, or in camelCase. */
export interface Codec {
  encode: (message: unknown) => unknown;
  decode: (message: unknown) => unknown;
}

/** Hints that something changed. `id` is what `after` takes, to go on from here; `reset`: some were missed. */
export type EventMessage = (Event | { topic: 'reset' }) & { id?: string };

/** The output of a followed job, and at the end the job itself. */
export type LogEvent = ({ type: 'output' } & OutputEvent) | ({ type: 'cut' } & CutEvent) | { type: 'end'; job: Job };

/** The names of fields: as on the wire, or in camelCase. */
export type Case = 'wire' | 'camel';
type Cased<T, C extends Case> = C extends 'camel' ? Camel<T> : T;

/** Numbers are written out; what is `undefined` is left out. */
type Fields<T> = { readonly [Field in keyof T]: T[Field] | number | undefined };
type Input<R extends Route> = [QueryOf<R>] extends [never] ? BodyOf<R> : Fields<QueryOf<R>>;
type Given<T> = [T] extends [Record<string, never> | undefined]
  ? [input?: CallOptions, options?: CallOptions]
  : undefined extends T
    ? [input?: Exclude<T, undefined> & CallOptions, options?: CallOptions]
    : object extends T
      ? [input?: T & CallOptions, options?: CallOptions]
      : [input: T extends readonly unknown[] ? T : T & CallOptions, options?: CallOptions];
type Params<R extends Route> = R['path'] extends `${string}:${string}` ? [of: string] : [];

/** A page; iterated over, all items of this page and the ones after it. */
export type List<Page> = Promise<Page> & AsyncIterable<Page extends { items: (infer Item)[] } ? Item : never>;

type Answer<Name, R extends Route, C extends Case> = [ReplyOf<R>] extends [never]
  ? Promise<Uint8Array>
  : Name extends `list${string}`
    ? List<Cased<ReplyOf<R>, C>>
    : Promise<Cased<ReplyOf<R>, C>>;

export type Calls<Table extends Readonly<Record<string, Route>>, C extends Case> = {
  readonly [Name in Exclude<keyof Table, 'streamEvents'>]: (
    ...args: [...Params<Table[Name]>, ...Given<Cased<Input<Table[Name]>, C>>]
  ) => Answer<Name, Table[Name], C>;
} & {
  /** Yields hints that something changed. Goes on where it was if the connection breaks. */
  streamEvents(input?: { after?: string } & CallOptions): AsyncGenerator<EventMessage>;
  /** Yields what the job has printed and prints, until it has ended. Goes on if the connection breaks. */
  followLogs(id: string, input?: { attempt?: number } & CallOptions): AsyncGenerator<Cased<LogEvent, C>>;
};

/** How often in a row a stream is opened again. */
const MAX_BREAKS = 3;
const LOG_EVENTS: readonly string[] = ['output', 'cut', 'end'];
const EVENTS = { accept: 'text/event-stream' };

/** `codec` turns messages into the case of the calls, and back. */
export function callsTo<Table extends Readonly<Record<string, Route>>, C extends Case>(
  table: Table,
  sender: Sender,
  { encode, decode }: Codec,
): Calls<Table, C> {
  const send = (name: string, route: Route, args: readonly unknown[]): unknown => {
    const call = callOf(route, args, encode);
    if (route.raw) return sender.open(route, call).then(({ body }) => bytesOf(body));
    if (!name.startsWith('list')) return sender.json(route, call).then(decode);
    const read = (cursor: string | undefined) =>
      sender.json(route, cursor === undefined ? call : { ...call, query: { ...call.query, cursor } });
    return listOf(read as ReadPage, decode);
  };
  const methods = Object.entries(table).map(([name, route]) => [name, (...args: unknown[]) => send(name, route, args)]);
  return {
    ...Object.fromEntries(methods),
    async *streamEvents({ after, ...options }: { after?: string } & CallOptions = {}) {
      const stream = streamOf(sender, table['streamEvents'] as Route, { last: after, ...options });
      for await (const { event, id, data } of stream) {
        const hint = event === 'reset' ? { topic: 'reset' } : (JSON.parse(data) as Event);
        yield { ...hint, ...(id !== undefined && { id }) };
      }
    },
    async *followLogs(id: string, { attempt, ...options }: { attempt?: number } & CallOptions = {}) {
      const query = attempt === undefined ? {} : { attempt };
      const stream = streamOf(sender, table['readLogs'] as Route, { params: { id }, query, ...options });
      for await (const { event, data } of stream) {
        if (!LOG_EVENTS.includes(event)) continue;
        const about = JSON.parse(data) as object;
        yield decode(event === 'end' ? { type: 'end', job: about } : { type: event, ...about });
        if (event === 'end') return;
      }
    },
  } as Calls<Table, C>;
}

type AnyCall = HttpCall<Route> & { query?: Record<string, unknown> };

function callOf({ path, method }: Route, args: readonly unknown[], encode: Codec['encode']): AnyCall {
  const [, name] = /:(\w+)/.exec(path) ?? [];
  const [given, more] = (name === undefined ? args : args.slice(1)) as [
    CallOptions | undefined,
    CallOptions | undefined,
  ];
  const { signal, idempotencyKey, ...fields } = { ...(Array.isArray(given) ? {} : given), ...more };
  const message = Array.isArray(given) ? given : Object.keys(fields).length === 0 ? undefined : fields;
  return {
    ...(name !== undefined && { params: { [name]: args[0] } }),
    ...(message !== undefined && { [method === 'GET' ? 'query' : 'body']: encode(message) }),
    ...(idempotencyKey !== undefined && { headers: { 'idempotency-key': idempotencyKey } }),
    ...(signal !== undefined && { signal }),
  };
}

type ReadPage = (cursor: string | undefined) => Promise<{ items: unknown[]; next_cursor?: string | null }>;

function listOf(read: ReadPage, decode: Codec['decode']): List<unknown> {
  const first = read(undefined);
  const page = first.then(decode);
  // Who only iterates learns of a refusal there.
  page.catch(() => undefined);
  return Object.assign(page, {
    async *[Symbol.asyncIterator]() {
      for (let page = await first; ; page = await read(page.next_cursor)) {
        for (const item of page.items) yield decode(item);
        if (page.next_cursor === undefined || page.next_cursor === null) return;
      }
    },
  }) as List<unknown>;
}

async function bytesOf(body: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return new Uint8Array(await new Blob(chunks as Uint8Array<ArrayBuffer>[]).arrayBuffer());
}

/** Yields the events of a stream. Opens it again after the last one if it breaks. */
async function* streamOf(
  sender: Sender,
  route: Route,
  { last: after, ...call }: { last?: string | undefined; params?: object; query?: object } & CallOptions,
): AsyncGenerator<StreamEvent> {
  let last = after;
  for (let breaks = 0; ; breaks += 1) {
    const headers = last === undefined ? EVENTS : { ...EVENTS, 'last-event-id': last };
    const { body } = await sender.open(route, { ...call, headers });
    try {
      for await (const event of readEvents(textChunks(body))) {
        yield event;
        last = event.id ?? last;
        breaks = 0;
      }
    } catch (error) {
      call.signal?.throwIfAborted();
      if (breaks >= MAX_BREAKS) throw sender.unreachable(error);
    }
  }
}

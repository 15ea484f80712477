/** The server's part of a route: schemas, limits and the function that answers. */

import type { IncomingHttpHeaders } from 'node:http';
import type { z } from 'zod';
import type { Finding } from '../api/doctor.ts';
import type { BodyOf, QueryOf, ReplyOf, Route } from '../api/route.ts';
import type { RouteName } from '../api/routes.ts';
import type { Log } from '../ops/log.ts';
import type { OpenEntry } from '../scheduler/access/decide.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import type { Principal } from './authenticate.ts';
import type { ConcurrencyLimit } from './concurrency-limit.ts';
import type { EventHub } from './event-hub.ts';

/** The state that all handlers of one server share. */
export interface Shared {
  scheduler: Scheduler;
  version: string;
  /** `null`: no token is needed. */
  token: string | null;
  now: () => number;
  events: EventHub;
  /** Limits the long polls that are open at once. */
  polls: ConcurrencyLimit;
  /** Limits the event and log streams that are open at once. */
  streams: ConcurrencyLimit;
  /** Examines the machine and the store. */
  examine: () => Promise<Finding[]>;
  /** The API document. */
  document: () => Record<string, unknown>;
}

export interface Call<Query = unknown, Body = unknown> extends Shared {
  route: Route;
  params: Readonly<Record<string, string>>;
  query: Query;
  body: Body;
  /** The body as it was sent; empty if there was none. */
  bytes: Buffer;
  /** The body as it arrives, for routes that ask for it. */
  stream: AsyncIterable<Uint8Array>;
  headers: IncomingHttpHeaders;
  /** The caller reached this server, or the proxy in front of it, by https. */
  isEncrypted: boolean;
  principal: Principal;
  remoteAddress: string;
  requestId: string;
  log: Log;
  /** The entry of the audit; `null` for calls that are not on record. */
  entry: OpenEntry | null;
  /** Aborts when the caller hangs up; for `long` routes also when the server closes, or the caller's token or session ends. */
  signal: AbortSignal;
}

export type Chunks = AsyncIterable<string | Uint8Array>;

/** JSON of a `T` that is text already: whole, or in chunks that are sent no faster than the caller reads. */
export class Serialized<T> {
  /** Never set at run time. */
  declare readonly type: T;
  readonly content: string | AsyncIterable<string>;

  constructor(content: string | AsyncIterable<string>) {
    this.content = content;
  }
}

/** The reply for one status in the API document: a JSON schema, or another media type. */
export type ReplySchema<Reply = unknown> = z.ZodType<Reply> | { type: string; schema?: z.ZodType };

interface Head<Status> {
  status: Status;
  headers?: Readonly<Record<string, string>>;
}
type Content<S> =
  S extends z.ZodType<infer Json>
    ? { json: Json | Serialized<Json> }
    : { type: string; text: string } | { type: string; chunks: Chunks };

/** The replies that a handler may return, by their schemas: for each status, a body of that status's type. */
export type Answer<Replies = Readonly<Record<number, ReplySchema>>> = {
  [Status in keyof Replies]: Head<Status> & Content<Replies[Status]>;
}[keyof Replies];

interface Options<Query, Body, QueryIn, BodyIn> {
  /** One line for the API document. */
  summary: string;
  query?: z.ZodType<Query, QueryIn>;
  /** Decoded before `handle`. Optional if the schema is. */
  body?: z.ZodType<Body, BodyIn>;
  /** The schema of a JSON body that `handle` decodes itself. */
  documentedBody?: z.ZodType<unknown, BodyIn>;
  /** The media type of a body that stays bytes. */
  rawBody?: string;
  /** The body is not read before `handle`, which reads it as it arrives and limits its size itself. */
  streamed?: boolean;
  /** The body carries text that jobs printed: its schema cleans unprintable text, so it is not refused. */
  textFromJobs?: boolean;
  bodyLimit?: number;
  /** The verb of the decision, if the body says more than the name of the operation. */
  decides?: (body: Body) => string;
  /** Long polls and streams: they end when the server closes. */
  long?: boolean;
  /** Workers and probes call it so often that requests are not logged. */
  quiet?: boolean;
}

export interface RouteHandler extends Options<unknown, never, unknown, unknown> {
  /** The name of the operation in the table of routes. */
  name: RouteName;
  route: Route;
  replies: Readonly<Record<number, ReplySchema>>;
  handle(call: Call): Promise<Answer> | Answer;
}

/** Checks at compile time that schemas fit the route, and that `handle` returns what the schemas of the replies describe. */
export function handler<
  R extends Route,
  const Replies extends Readonly<Record<number, ReplySchema<ReplyOf<R>>>>,
  Query = undefined,
  Body = undefined,
>(
  route: R,
  options: Options<Query, Body, QueryOf<R>, BodyOf<R>> & {
    replies: Replies;
    handle(call: Call<Query, Body>): Promise<Answer<Replies>> | Answer<Replies>;
  },
): Omit<RouteHandler, 'name'> {
  return { route, ...options } as unknown as Omit<RouteHandler, 'name'>;
}

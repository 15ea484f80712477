/** What a route is: an address, what it takes, what it answers, who may call it, and one function. */

import type { IncomingHttpHeaders } from 'node:http';
import type { z } from 'zod';
import type { Log } from '../ops/log.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import type { Principal, Scope } from './authenticate.ts';
import type { ConcurrencyLimit } from './concurrency-limit.ts';
import type { EventHub } from './event-hub.ts';

/** What all routes of one server share. */
export interface Shared {
  scheduler: Scheduler;
  version: string;
  /** `null`: none is needed. */
  token: string | null;
  now: () => number;
  events: EventHub;
  /** Long polls and streams that are open. */
  polls: ConcurrencyLimit;
  streams: ConcurrencyLimit;
  /** The API document. */
  document: () => unknown;
}

export interface Call<Query = unknown, Body = unknown> extends Shared {
  params: Readonly<Record<string, string>>;
  query: Query;
  body: Body;
  /** The body as it was sent; empty where there was none. */
  bytes: Buffer;
  headers: IncomingHttpHeaders;
  principal: Principal;
  remoteAddress: string;
  log: Log;
  /** Aborts when the caller hangs up; for `long` routes also when the server closes. */
  signal: AbortSignal;
}

export type Chunks = AsyncIterable<string | Uint8Array>;

export type Answer = { status: number; headers?: Readonly<Record<string, string>> } & (
  | { json: unknown }
  | { type: string; text: string }
  /** Sent piece by piece, no faster than the caller reads. */
  | { type: string; chunks: Chunks }
);

/** What stands in the API document for one status: a message, or a media type other than JSON. */
export type AnswerSchema = z.ZodType | { type: string; schema?: z.ZodType };

export interface Route<Query = unknown, Body = unknown> {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With `:name` for its parameters. */
  path: string;
  /** `null`: open to everybody who reaches the server. */
  scope: Scope | null;
  summary: string;
  query?: z.ZodType<Query>;
  /** Decoded before `handle`. Without `bodyOptional`, a body must be there. */
  body?: z.ZodType<Body>;
  bodyOptional?: boolean;
  /** The body carries text that jobs printed: cleaned by its schema rather than refused. */
  textFromJobs?: boolean;
  /** The body stays bytes; this is its media type in the API document. */
  rawBody?: string;
  /** The body is JSON of this form, but `handle` decodes it itself. */
  documentedBody?: z.ZodType;
  bodyLimit?: number;
  /** May take long by its nature: ended when the server closes. */
  long?: boolean;
  /** Called so often by machines that it is not worth a line in the log. */
  quiet?: boolean;
  answers: Readonly<Record<number, AnswerSchema>>;
  handle(call: Call<Query, Body>): Promise<Answer> | Answer;
}

/** Keeps the types of query and body from the schemas to the handler. */
export function defineRoute<Query = undefined, Body = undefined>(route: Route<Query, Body>): Route {
  return route;
}

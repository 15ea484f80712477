/** The state of one server. */

import { AnswerBudget } from './answer-budget.ts';
import { ConcurrencyLimit } from './concurrency-limit.ts';
import { EventHub } from './event-hub.ts';
import type { Shared } from './handler.ts';
import { HANDLERS } from './handlers.ts';
import { apiDocument } from './openapi.ts';
import type { ServerOptions } from './server.ts';
import { SocketServer } from './socket-server.ts';

export type Context = Shared & { closing: AbortSignal; local: SocketServer; answers: AnswerBudget };

export function contextOf(options: ServerOptions, closing: AbortSignal): Context {
  const { scheduler, token } = options;
  return {
    scheduler,
    version: options.version,
    token,
    examine: options.examine,
    now: options.now ?? Date.now,
    events: new EventHub(scheduler),
    polls: new ConcurrencyLimit(options.maxPolls ?? 5_000),
    streams: new ConcurrencyLimit(options.maxStreams ?? 1_000),
    document: memo(() => apiDocument(HANDLERS, options.version)),
    closing,
    answers: new AnswerBudget(),
    local: new SocketServer(),
  };
}

function memo<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

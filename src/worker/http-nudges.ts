/** Nudges over HTTP: the next heartbeat should not wait. */

import { readEvents } from '../api/event-stream.ts';
import { routes } from '../api/routes.ts';
import { systemClock } from '../ops/clock.ts';
import type { Log } from '../ops/log.ts';
import type { HttpExchange } from './http-exchange.ts';

/** The scheduler sends at least a comment every 5 s. */
const SILENCE_MS = 12_000;
const RECONNECT_MS = 2_000;

interface NudgeOptions {
  exchange: HttpExchange;
  workerId: number;
  log: Log;
  signal: AbortSignal;
}

/**
 * Calls `listener` at every nudge, and after a gap in which one may have been missed. Returns a function that stops it.
 * Without nudges a cancel arrives with the next regular heartbeat.
 */
export function listenForNudges(options: NudgeOptions, listener: () => void): () => void {
  const stopped = new AbortController();
  const signal = AbortSignal.any([options.signal, stopped.signal]);
  void listen({ ...options, signal }, listener);
  return () => stopped.abort();
}

async function listen({ exchange, workerId, log, signal }: NudgeOptions, listener: () => void): Promise<void> {
  const call = { params: { id: workerId }, headers: { accept: 'text/event-stream' }, deadlineMs: SILENCE_MS };
  while (!signal.aborted) {
    try {
      for await (const { event } of readEvents(exchange.text(routes.nudgeWorker, call, signal))) {
        if (event === 'nudge') listener();
      }
    } catch (error) {
      if (!signal.aborted) log.debug({ worker_id: String(workerId), error }, 'nudges broke off');
    }
    await systemClock.sleep(RECONNECT_MS, signal);
    if (!signal.aborted) listener();
  }
}

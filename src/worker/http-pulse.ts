/** Renews a worker's lease over HTTP, for the thread of a `Pulse`. */

import type { PulseConnection, PulsePlan } from '../core/pulse.ts';
import { type ExchangeOptions, HttpExchange } from './http-exchange.ts';

const DEADLINE_MS = 8_000;

export function httpPulse(options: ExchangeOptions): PulsePlan {
  return { module: import.meta.url, data: options };
}

export function connect(options: ExchangeOptions): PulseConnection {
  const exchange = new HttpExchange(options);
  return {
    async renew(workerId, signal) {
      const body = { type: 'application/json', data: '{}' };
      await exchange.json(
        { method: 'POST', path: `/workers/${workerId}/heartbeat`, body, deadlineMs: DEADLINE_MS },
        signal,
      );
    },
    async [Symbol.asyncDispose]() {
      exchange[Symbol.dispose]();
    },
  };
}

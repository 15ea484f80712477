/** Renews a worker's lease over HTTP, for the thread of a `LeaseKeeper`. */

import { routes } from '../api/routes.ts';
import type { LeaseKeeperConnection, LeaseKeeperPlan } from '../core/lease-keeper.ts';
import { type ExchangeOptions, HttpExchange } from './http-exchange.ts';

const DEADLINE_MS = 8_000;

export function httpLeaseKeeper(options: ExchangeOptions): LeaseKeeperPlan {
  return { module: { file: new URL('./http-lease-keeper.ts', import.meta.url) }, data: options };
}

export function connect(options: ExchangeOptions): LeaseKeeperConnection {
  const exchange = new HttpExchange(options);
  return {
    async renew(workerId, signal) {
      const call = { params: { id: workerId }, body: {}, deadlineMs: DEADLINE_MS };
      await exchange.json(routes.heartbeatWorker, call, signal);
    },
    async [Symbol.asyncDispose]() {
      exchange[Symbol.dispose]();
    },
  };
}

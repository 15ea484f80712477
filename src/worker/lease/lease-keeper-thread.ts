/** The thread of a `LeaseKeeper`: renews the worker's lease while the worker's event loop is blocked. */

import { setTimeout as sleep } from 'node:timers/promises';
import { workerData } from 'node:worker_threads';
import type { LeaseKeeperConnection } from '../../core/lease-keeper.ts';
import { monotonicMs } from '../../ops/monotonic.ts';
import { CELLS, type LeaseKeeperData } from './lease-keeper.ts';

interface LeaseKeeperModule {
  connect(data: unknown): LeaseKeeperConnection;
}

/** Shares of a heartbeat interval: how often to check, and when the loop counts as blocked. */
const CHECK_SHARE = 1 / 4;
const BLOCKED_SHARE = 3 / 4;

const { module: specifier, data, shared, heartbeatMs } = workerData as LeaseKeeperData;
const cells = new BigInt64Array(shared);
const read = (cell: number) => Number(Atomics.load(cells, cell));
let connection: LeaseKeeperConnection | undefined;
let module: Promise<LeaseKeeperModule> | undefined;

// Loaded early, so that it is ready when needed, but not by a worker that lives only for a moment.
await sleep(heartbeatMs);
await load().catch(() => undefined);

for (;;) {
  await sleep(heartbeatMs * CHECK_SHARE);
  const blockedMs = monotonicMs() - read(CELLS.aliveAt);
  const mayRun = blockedMs <= read(CELLS.longestMs) + heartbeatMs;
  if (read(CELLS.longestMs) > 0 && blockedMs > heartbeatMs * BLOCKED_SHARE && mayRun) await renew();
  else await close();
}

async function renew(): Promise<void> {
  try {
    connection ??= await connect();
    const sentAt = Math.floor(monotonicMs());
    await connection.renew(read(CELLS.workerId), AbortSignal.timeout(heartbeatMs * 2));
    Atomics.store(cells, CELLS.renewedAt, BigInt(sentAt));
  } catch {
    // The next check tries again on a new connection. The log cannot be written while the loop is blocked.
    await close();
  }
}

function load(): Promise<LeaseKeeperModule> {
  module ??= import(specifier) as Promise<LeaseKeeperModule>;
  return module;
}

async function connect(): Promise<LeaseKeeperConnection> {
  return (await load()).connect(data);
}

async function close(): Promise<void> {
  const closing = connection;
  connection = undefined;
  await closing?.[Symbol.asyncDispose]().then(undefined, () => undefined);
}

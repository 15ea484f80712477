/** The thread of a `LeaseKeeper`: watches whether the worker's loop turns, and renews its lease while it does not. */

import { setTimeout as sleep } from 'node:timers/promises';
import { workerData } from 'node:worker_threads';
import type { LeaseKeeperConnection } from '../../core/lease-keeper.ts';
import { monotonicMs } from '../time/monotonic.ts';
import { CELLS, type LeaseKeeperData } from './lease-keeper.ts';

interface LeaseKeeperModule {
  connect(data: unknown): LeaseKeeperConnection;
}

/** In parts of a heartbeat: how often to look, and from when on the loop counts as silent. */
const LOOK_SHARE = 1 / 4;
const SILENT_SHARE = 3 / 4;

const { plan, shared, heartbeatMs } = workerData as LeaseKeeperData;
const cells = new BigInt64Array(shared);
const read = (cell: number) => Number(Atomics.load(cells, cell));
let connection: LeaseKeeperConnection | undefined;
let module: Promise<LeaseKeeperModule> | undefined;

// Loaded early, so that it is there when it is needed, but not by a worker that lives for a moment only.
await sleep(heartbeatMs);
await load().catch(() => undefined);

for (;;) {
  await sleep(heartbeatMs * LOOK_SHARE);
  const silentMs = monotonicMs() - read(CELLS.aliveAt);
  const mayRun = silentMs <= read(CELLS.longestMs) + heartbeatMs;
  if (read(CELLS.longestMs) > 0 && silentMs > heartbeatMs * SILENT_SHARE && mayRun) await renew();
  else await close();
}

async function renew(): Promise<void> {
  try {
    connection ??= await connect();
    const sentAt = Math.floor(monotonicMs());
    await connection.renew(read(CELLS.workerId), AbortSignal.timeout(heartbeatMs * 2));
    Atomics.store(cells, CELLS.renewedAt, BigInt(sentAt));
  } catch {
    // The next look tries again on a new connection; nobody could read a log line now.
    await close();
  }
}

function load(): Promise<LeaseKeeperModule> {
  module ??= import(plan.module) as Promise<LeaseKeeperModule>;
  return module;
}

async function connect(): Promise<LeaseKeeperConnection> {
  return (await load()).connect(plan.data);
}

async function close(): Promise<void> {
  const closing = connection;
  connection = undefined;
  await closing?.[Symbol.asyncDispose]().then(undefined, () => undefined);
}

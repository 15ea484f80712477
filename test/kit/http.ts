/** A real HTTP server on a free port with a scheduler, on the memory store by default. */

import { randomBytes } from 'node:crypto';
import { createServer, type ServerOptions } from '../../src/http/server.ts';
import { examine } from '../../src/node/doctor/doctor.ts';
import { systemClock } from '../../src/ops/clock.ts';
import { KeyRing } from '../../src/ops/key-ring.ts';
import { type Log, silentLog } from '../../src/ops/log.ts';
import { Metrics } from '../../src/ops/metrics.ts';
import { createScheduler } from '../../src/scheduler/create-scheduler.ts';
import { runDuties } from '../../src/scheduler/duties/duties.ts';
import { NO_TARGETS, type NotifyContext } from '../../src/scheduler/notify/targets.ts';
import type { Scheduler } from '../../src/scheduler/scheduler.ts';
import { openMemory } from '../../src/store/memory/open.ts';
import type { Store } from '../../src/store/store.ts';

export interface TestServer extends AsyncDisposable {
  url: string;
  port: number;
  scheduler: Scheduler;
  /** Sends a request and returns the decoded reply. A string body is sent unchanged. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<TestAnswer>;
  close(): Promise<void>;
}

export interface TestAnswer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
  body: any;
}

export async function openTestServer(
  wanted: Partial<Omit<ServerOptions, 'scheduler'>> & {
    log?: Log;
    wrap?: (scheduler: Scheduler) => Scheduler;
    /** The store, closed by the test; memory by default. */
    store?: Store;
    instanceId?: string;
    notify?: NotifyContext;
    /** A new key by default. */
    secretKeys?: KeyRing | null;
    /** Silent by default. */
    schedulerLog?: Log;
  } = {},
): Promise<TestServer> {
  const {
    wrap = (scheduler) => scheduler,
    store = openMemory({ clock: systemClock }),
    instanceId = 'test',
    notify = NO_TARGETS,
    secretKeys = aKey(),
    schedulerLog = silentLog,
    ...options
  } = wanted;
  const parts = createScheduler({
    store,
    clock: systemClock,
    random: Math.random,
    log: schedulerLog,
    metrics: new Metrics('0', 'test'),
    instanceId,
    notify,
    leaseMs: 30_000,
    heartbeatMs: 5_000,
    secretKeys,
  });
  const ended = new AbortController();
  const day = 86_400_000;
  const settings = { leaseMs: 30_000, reapEveryMs: 10_000, forgetWorkersAfterMs: day, ledgerMs: day, auditMs: day };
  const retention = { doneMs: day, otherMs: day, statsMs: day };
  const duties = runDuties(parts, { ...settings, retention }, ended.signal);
  const scheduler = wrap(parts.scheduler);
  const server = createServer({
    token: null,
    allowedHosts: [],
    log: silentLog,
    version: '0.0.0',
    examine: () => examine(),
    ...options,
    scheduler,
  });
  const listening = await server.listen({ host: '127.0.0.1', port: 0 });
  const { url, port } = listening;
  const close = () => listening.close();
  return {
    url,
    port,
    scheduler,
    async call(method, path, body, headers = {}) {
      const response = await fetch(url + path, {
        method,
        headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      const text = await response.text();
      const json = /\bjson(;|$)/.test(response.headers.get('content-type') ?? '');
      return {
        status: response.status,
        headers: response.headers,
        body: json && text !== '' ? JSON.parse(text) : text,
      };
    },
    close,
    async [Symbol.asyncDispose]() {
      await close();
      ended.abort();
      await duties;
      await parts.scheduler[Symbol.asyncDispose]();
    },
  };
}

function aKey(): KeyRing {
  return KeyRing.parse(randomBytes(32).toString('base64'));
}

/** Registers a worker and claims a job for it. */
export async function claimOverHttp(server: TestServer): Promise<{ worker: string; id: string; attempt: number }> {
  const { body: registered } = await server.call('POST', '/workers/register', { name: 'w' });
  const { body: claimed } = await server.call('POST', '/jobs/claim', { worker_id: registered.worker_id });
  const [job] = claimed.items;
  return { worker: registered.worker_id, id: job.id, attempt: job.attempt };
}

/** Idle workers over HTTP: registered, claiming by long poll, sending heartbeats. */

import { setTimeout as sleep } from 'node:timers/promises';
import { silentLog } from '../../src/ops/log.ts';
import { httpSource } from '../../src/worker/http-source.ts';

const offer = { queues: null, commands: true, handlers: [], tags: [], free: {} };

/** Runs them until disposed. */
export async function idleWorkers(url: string, count: number): Promise<AsyncDisposable> {
  const source = httpSource({ urls: [url], token: null, log: silentLog, version: '0' });
  const ended = new AbortController();
  const { signal } = ended;
  const work = async (place: number): Promise<void> => {
    const profile = {
      name: `idle-${place}`,
      slots: 1,
      queues: null,
      commands: true,
      handlers: [],
      tags: [],
      resources: {},
    };
    const { workerId, heartbeatMs } = await source.register(profile, signal);
    const ask = async () => {
      for (let claimSeq = 1; ; claimSeq += 1) {
        await source.claim({ workerId, limit: 1, prefetch: false, offer, claimSeq, waitMs: 20_000 }, signal);
      }
    };
    const beat = async () => {
      for (;;) {
        await sleep(heartbeatMs, undefined, { signal });
        const response = await fetch(`${url}/workers/${workerId}/heartbeat`, { method: 'POST', signal });
        await response.arrayBuffer();
      }
    };
    await Promise.all([ask(), beat()]);
  };
  const all = Promise.all(Array.from({ length: count }, (_, place) => work(place))).catch((error: unknown) => {
    if (!signal.aborted) console.error(error);
  });
  return {
    async [Symbol.asyncDispose]() {
      ended.abort();
      await all;
      await source[Symbol.asyncDispose]();
    },
  };
}

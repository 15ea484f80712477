/** Handlers that keep the event loop from turning for longer than a lease. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { job, open, type Workron } from '../../src/index.ts';
import { first, writePair } from '../kit/certificates.ts';
import { Child } from '../kit/child.ts';
import { eventually } from '../kit/eventually.ts';
import { loadFactor } from '../kit/load-factor.ts';
import { openTestPostgres } from '../kit/postgres.ts';

/** Both keep their leases by being quick enough, which the machine must allow. */
const FACTOR = loadFactor();
const LEASE_MS = Math.round(3_000 * FACTOR);
/** Where nobody else has to be quick. */
const SHORT_LEASE_MS = Math.round(1_000 * FACTOR);
const script = new URL('../kit/blocking-worker.ts', import.meta.url);

function scratch(): Disposable & { path: string } {
  const path = mkdtempSync(join(tmpdir(), 'workron-blocked-'));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

/** Others stand ready to run the jobs and reap; the child's loop stands still until its lease would be over twice. */
async function holdsItsJobs(workron: Workron, child: Child): Promise<void> {
  using folder = scratch();
  const file = join(folder.path, 'released');
  const [block, wait] = [
    job('block', { run: (file: string) => `elsewhere: ${file}` }),
    job('wait', { run: () => 'elsewhere' }),
  ];
  const waiting = await workron.submit(wait);
  assert.equal(await child.line(), 'waits');
  const blocked = await workron.submit(block, file);
  assert.equal(await child.line(), 'blocked');
  const blockedAt = Date.now();
  await workron.start({ jobs: [block, wait] });
  await eventually(async (saw) => {
    const { attempts, lastHeartbeat: seen } = saw(await workron.job(blocked.id));
    return attempts > 1 || Date.parse(seen as string) > blockedAt + 1.5 * LEASE_MS;
  });
  writeFileSync(file, '');
  const ended = [await blocked.ended(), await waiting.ended()];
  assert.deepEqual(
    ended.map(({ status, attempts, interruptions, result }) => ({ status, attempts, interruptions, result })),
    [
      { status: 'done', attempts: 1, interruptions: 0, result: 'blocked here' },
      { status: 'done', attempts: 1, interruptions: 0, result: 'waited here' },
    ],
  );
}

test('blocked loop: a worker attached to PostgreSQL keeps its lease, and all that runs beside', async () => {
  await using place = await openTestPostgres();
  await using workron = await open(place.url, { schema: place.schema, log: 'silent', lease: LEASE_MS });
  await using child = Child.script(script, place.url, place.schema, String(LEASE_MS));
  await holdsItsJobs(workron, child);
});

for (const protocol of ['http', 'https', 'unix']) {
  test(`blocked loop: a worker over ${protocol} keeps its lease, and all that runs beside`, async () => {
    using folder = scratch();
    const ca = protocol === 'https' ? writePair(folder.path, first).cert : '';
    await using workron = await open('memory:', { log: 'silent', lease: LEASE_MS });
    const { node } = await workron.mount();
    const server = ca === '' ? createServer(node) : createTlsServer(first, node);
    const socket = join(folder.path, 'socket');
    const place = protocol === 'unix' ? { path: socket } : { port: 0, host: '127.0.0.1' };
    await new Promise<void>((resolve) => server.listen(place, resolve));
    try {
      const address = server.address() as AddressInfo | string;
      const url = typeof address === 'string' ? `unix:${address}` : `${protocol}://127.0.0.1:${address.port}`;
      await using child = Child.script(script, url, '', String(LEASE_MS), ca);
      await holdsItsJobs(workron, child);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
}

for (const driver of ['memory', 'sqlite']) {
  test(`blocked loop: in the owning process of ${driver}, nothing is lost`, async () => {
    using folder = scratch();
    await using workron = await open(driver === 'memory' ? 'memory:' : join(folder.path, 'jobs.db'), {
      log: 'silent',
      lease: SHORT_LEASE_MS,
    });
    const released = Promise.withResolvers<void>();
    const wait = job('wait', {
      run: (_: void, { signal }) => {
        signal.addEventListener('abort', () => released.reject(signal.reason as Error));
        return released.promise;
      },
    });
    const block = job('block', {
      run: () => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1.5 * SHORT_LEASE_MS),
    });
    await workron.start({ jobs: [wait, block] });
    const waiting = await workron.submit(wait);
    await eventually(async () => (await waiting.job()).status === 'running');
    const blocked = await workron.submit(block);
    assert.deepEqual(await outcome(blocked.ended()), ['done', 1, 0]);
    // Another round of everything that could take it away.
    const again = await workron.submit(block);
    assert.deepEqual(await outcome(again.ended()), ['done', 1, 0]);
    released.resolve();
    assert.deepEqual(await outcome(waiting.ended()), ['done', 1, 0]);
  });
}

async function outcome(ended: Promise<{ status: string; attempts: number; interruptions: number }>) {
  const { status, attempts, interruptions } = await ended;
  return [status, attempts, interruptions];
}

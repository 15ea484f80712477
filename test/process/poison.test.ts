/** A job whose handler ends its worker's process before the worker has reported the start. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { job, open, type Workron } from '../../src/index.ts';
import { fullOnly } from '../full-only.ts';
import { Child } from '../kit/child.ts';
import { openTestPostgres } from '../kit/postgres.ts';
import { temporaryFolder } from '../kit/workron-process.ts';

const LEASE_MS = 3_000;
const SCRIPT = new URL('../kit/poison-worker.ts', import.meta.url);
const work = job('work', { run: (place: number) => place, maxAttempts: 3, backoff: { base: '100ms' } });

/** Ended jobs as the worker prints them. */
type Ended = { id: string; status: string; failures: number; interruptions: number };

/** Enough jobs before the poison for the worker to prefetch, and enough behind it to be prefetched with it. */
async function submit(workron: Workron): Promise<{ poison: string; others: string[] }> {
  const handles = await workron.submitAll(
    work,
    Array.from({ length: 400 }, (_, place) => place),
  );
  const ids = handles.map(({ id }) => id);
  const poison = ids[150] as string;
  return { poison, others: ids.filter((id) => id !== poison) };
}

/** Starts the worker again and again until all jobs have ended. */
async function endsAlone(url: string, schema: string, { poison, others }: { poison: string; others: string[] }) {
  await using folder = await temporaryFolder();
  const starts = join(folder.path, 'starts');
  let ended: Ended[] | undefined;
  for (let kills = 0; ended === undefined; kills += 1) {
    assert.ok(kills <= 4, `the worker was killed ${kills} times`);
    await using child = Child.script(SCRIPT, url, schema, String(LEASE_MS), starts, poison, ...others);
    const line = await child.line();
    if (line !== undefined) ended = JSON.parse(line) as Ended[];
  }
  const [lost, ...rest] = ended;
  assert.deepEqual(lost, { id: poison, status: 'failed', failures: 3, interruptions: 0 });
  assert.deepEqual(
    rest.filter(({ status, failures, interruptions }) => status !== 'done' || failures + interruptions > 0),
    [],
  );
  const poisonStarts = readFileSync(starts, 'utf8')
    .split('\n')
    .filter((id) => id === poison).length;
  assert.equal(poisonStarts, 4, 'one start that was not reported, and three that are charged');
}

describe('a handler that ends its worker at once is charged, and no other job is', { concurrency: 3 }, () => {
  test('attached to PostgreSQL', { timeout: 180_000 }, async () => {
    await using place = await openTestPostgres();
    await using workron = await open(place.url, { schema: place.schema, log: 'silent', lease: LEASE_MS });
    await endsAlone(place.url, place.schema, await submit(workron));
  });

  test('in the process that owns a SQLite file', {
    timeout: 180_000,
    skip: fullOnly('poison: in the process that owns a SQLite file'),
  }, async () => {
    await using folder = await temporaryFolder();
    const file = join(folder.path, 'jobs.db');
    const workron = await open(file, { log: 'silent' });
    const jobs = await submit(workron);
    await workron.stop();
    await endsAlone(file, '', jobs);
  });

  test('over HTTP', { timeout: 180_000, skip: fullOnly('poison: over HTTP') }, async () => {
    await using workron = await open('memory:', { log: 'silent', lease: LEASE_MS });
    const { node } = await workron.mount();
    await workron.start();
    const server = createServer(node);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const { port } = server.address() as AddressInfo;
      await endsAlone(`http://127.0.0.1:${port}`, '', await submit(workron));
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});

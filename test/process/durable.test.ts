/** A worker that is killed with -9 after each line of a durable function. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { job, open, type Workron } from '../../src/index.ts';
import { Child } from '../kit/child.ts';
import { openTestPostgres } from '../kit/postgres.ts';
import { temporaryFolder } from '../kit/workron-process.ts';

const LEASE_MS = 1_000;
const SCRIPT = new URL('../kit/durable-worker.ts', import.meta.url);
/** Every step is killed once in its body and once after it. Between two steps at most one loss counts. */
const durable = job('durable', { run: (input: null) => input, maxAttempts: 3, backoff: { type: 'none' } });
const STEPS = [1, 2, 3, 4, 5];
const LINES = ['begins', ...STEPS.flatMap((place) => [`in ${place}`, `after ${place}`])];

async function submit(workron: Workron): Promise<string> {
  return (await workron.submit(durable, null)).id;
}

/** Starts the worker again and again until the job has ended. */
async function survives(url: string, schema: string, id: string): Promise<void> {
  await using folder = await temporaryFolder();
  const file = join(folder.path, 'happened');
  let ended: unknown;
  for (let kills = 0; ended === undefined; kills += 1) {
    assert.ok(kills <= LINES.length, `the worker was killed ${kills} times`);
    await using child = Child.script(SCRIPT, url, schema, String(LEASE_MS), file, id);
    const line = await child.line();
    if (line !== undefined) ended = JSON.parse(line);
  }
  assert.deepEqual(ended, { status: 'done', result: 15 });
  const happened = readFileSync(file, 'utf8').trim().split('\n');
  assert.deepEqual(
    happened.filter((text) => !text.startsWith('runs')),
    LINES,
  );
  // Once in the process that was killed in its body, and once for good.
  for (const place of STEPS) assert.equal(happened.filter((text) => text === `runs ${place}`).length, 2);
}

describe('a durable function that is killed after each line ends once, and repeats no finished step', {
  concurrency: 3,
}, () => {
  test('attached to PostgreSQL', { timeout: 240_000 }, async () => {
    await using place = await openTestPostgres();
    await using workron = await open(place.url, { schema: place.schema, log: 'silent', lease: LEASE_MS });
    await survives(place.url, place.schema, await submit(workron));
  });

  test('in the process that owns a SQLite file', { timeout: 240_000 }, async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'jobs.db');
    const workron = await open(path, { log: 'silent' });
    const id = await submit(workron);
    await workron.stop();
    await survives(path, '', id);
  });

  test('over HTTP', { timeout: 240_000 }, async () => {
    await using workron = await open('memory:', { log: 'silent', lease: LEASE_MS });
    const { node } = await workron.mount();
    await workron.start();
    const server = createServer(node);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const { port } = server.address() as AddressInfo;
      await survives(`http://127.0.0.1:${port}`, '', await submit(workron));
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});

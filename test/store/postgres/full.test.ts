/** A database whose disk is full, on a disk that really is. */

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import pg from 'pg';
import { aJob, jobs } from '../../../contract/kit/builders.ts';
import { claim, forever, ids, register, submit, succeed } from '../../../contract/kit/steps.ts';
import { isWorkronError } from '../../../src/core/error.ts';
import type { Store } from '../../../src/store/store.ts';
import { openTestPostgres } from '../../kit/postgres.ts';
import { canMount, startPostgres } from '../../kit/postgres-server.ts';

test('postgres: a full disk is told as such, costs nothing acknowledged, and passes', {
  skip: !canMount() && 'needs leave to mount a small disk',
}, async () => {
  await using server = await startPostgres({ disk: '24m' });
  const disk = server.disk();
  const ballast = join(disk.here, 'ballast');
  const url = new URL(server.url);
  await using client = Object.assign(new pg.Client({ connectionString: url.href }), {
    [Symbol.asyncDispose]: () => client.end(),
  });
  await client.connect();
  await client.query(`create tablespace small location '${disk.there}'`);
  await client.query('create database small tablespace small');
  writeFileSync(ballast, Buffer.alloc(4_000_000));
  url.pathname = '/small';

  await using given = await openTestPostgres({ url: url.href });
  const { store } = given;
  const stored: number[] = [];
  const failure = await fill(store, stored);
  assert.ok(isWorkronError(failure, 'store_full'), String(failure));
  assert.ok(failure.retryable);
  assert.ok(stored.length > 20, `only ${stored.length} jobs fitted`);
  assert.deepEqual(new Set(ids(await store.read(stored, forever))), new Set(stored));
  assert.equal(await store.count({}, 1_000_000, forever), stored.length);

  await assert.rejects(store.checkWritable(forever), { code: 'store_full' });
  rmSync(ballast);
  await store.checkWritable(forever);
  assert.deepEqual(await given.query(`select 1 from "${given.schema}".log`), []);
  assert.equal((await submit(store, jobs(3))).length, 3);
  const { id: workerId } = await register(store);
  const [job] = await claim(store, workerId, { limit: 1 });
  assert.ok(job);
  assert.equal((await succeed(store, { job, workerId })).result, 'ok');
});

/** Submits until that fails; answers with the error. */
async function fill(store: Store, stored: number[]): Promise<unknown> {
  for (;;) {
    // Ten calls at once, so that several are in flight when the first one fails. What is random cannot be compressed.
    const calls = await Promise.allSettled(
      Array.from({ length: 10 }, () => submit(store, [aJob({ command: randomBytes(20_000).toString('hex') })])),
    );
    for (const call of calls) if (call.status === 'fulfilled') stored.push(...ids(call.value));
    const failed = calls.find((call) => call.status === 'rejected');
    if (failed !== undefined) return failed.reason as unknown;
  }
}

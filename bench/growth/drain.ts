/** Claims and settles in large batches, as a busy worker does. */

import { NEVER } from '../../src/core/never.ts';
import type { WorkerRow } from '../../src/core/worker.ts';
import type { Store } from '../../src/store/store.ts';
import { noop } from '../scene.ts';
import type { Grounds } from './grounds.ts';
import { type Work, workOf } from './work.ts';

const BATCH = 500;

export type Submit = (store: Store) => Promise<void>;

/** Submits jobs, then claims and settles as many; returns the cost of the latter. */
export async function measureDrain(grounds: Grounds, schema: string, submit: Submit): Promise<Work> {
  const { client, jobs } = grounds;
  {
    await using store = await grounds.open(schema);
    await submit(store);
  }
  await client.query(`analyze "${schema}".live, "${schema}".job, "${schema}".run`);
  return await workOf(client, { schema, jobs }, async () => {
    await using store = await grounds.open(schema);
    await drain(store, jobs);
  });
}

/** Claims and settles `jobs` jobs. `onClaim` gets the duration of each claim. */
export async function drain(
  store: Store,
  jobs: number,
  onClaim: (ms: number) => void = () => undefined,
): Promise<void> {
  const worker = await registerWorker(store);
  const offer = { queues: null, commands: false, handlers: ['noop'], tags: [], free: {} };
  for (let claimSeq = 1, done = 0; done < jobs; claimSeq += 1) {
    const startedAt = performance.now();
    const limit = Math.min(BATCH, jobs - done);
    const claimed = await store.claim({ workerId: worker.id, limit, offer, claimSeq, prefetch: true }, NEVER);
    onClaim(performance.now() - startedAt);
    if (claimed.length === 0) throw new Error(`expected a claimable job after ${done} jobs, got none`);
    await store.settle(
      claimed.map(({ id, attempt }) => ({ jobId: id, attempt, workerId: worker.id, exitCode: null })),
      NEVER,
    );
    done += claimed.length;
  }
}

/** Submits a thousand jobs per call. */
export async function submitMany(
  store: Store,
  count: number,
  job: (place: number) => Parameters<typeof noop>[0],
): Promise<void> {
  for (let sent = 0; sent < count; sent += 1_000) {
    const size = Math.min(1_000, count - sent);
    await store.insert(
      Array.from({ length: size }, (_, place) => noop(job(sent + place))),
      {},
      NEVER,
    );
  }
}

export async function registerWorker(store: Store): Promise<WorkerRow> {
  return await store.registerWorker(
    {
      name: 'growth',
      attachment: 'remote',
      instanceId: 'growth',
      host: 'localhost',
      pid: null,
      address: null,
      registeredBy: null,
      slots: BATCH,
      queues: null,
      commands: false,
      handlers: ['noop'],
      tags: [],
      resources: {},
      leaseMs: 600_000,
      version: '0',
    },
    NEVER,
  );
}

/**
 * What a job costs PostgreSQL as the work around it grows: pages per claimed and per settled job, last to first. Time
 * drifts on shared machines; it is printed beside.
 * `npm run bench:growth [-- --share 1] [--jobs 10000] [--minutes 30]`
 */

import { parseArgs } from 'node:util';
import { silentLog } from '../../src/ops/log.ts';
import { openPostgres } from '../../src/store/postgres/open.ts';
import type { Store } from '../../src/store/store.ts';
import { startPostgres } from '../../test/kit/postgres-server.ts';
import { noop } from '../scene.ts';
import { PILES } from './backlog.ts';
import { keysAndQueues } from './keys.ts';
import { connect, type Work, workOf } from './work.ts';

const { values } = parseArgs({
  options: {
    share: { type: 'string', default: '1' },
    jobs: { type: 'string', default: '10000' },
    minutes: { type: 'string', default: '30' },
  },
});
const BATCH = 500;
const jobs = Number(values.jobs);
const share = Number(values.share);
const never = new AbortController().signal;
const deadline = performance.now() + Number(values.minutes) * 60_000;

await using server = await startPostgres({ durable: true });
const first = await connect(server.url);
await first.query(`alter system set shared_preload_libraries = 'pg_stat_statements'`);
await first.end();
await server.restart('fast');
const client = await connect(server.url);
await client.query('create extension pg_stat_statements');

/** Submits jobs of the highest priority, claims and settles them all; answers with what that cost. */
async function drain(store: Store, submit: (store: Store) => Promise<void>): Promise<Work> {
  await submit(store);
  await client.query('analyze');
  const worker = await store.registerWorker(
    {
      name: 'growth',
      attachment: 'remote',
      instanceId: 'growth',
      host: 'localhost',
      pid: null,
      address: null,
      slots: BATCH,
      queues: null,
      commands: false,
      handlers: ['noop'],
      tags: [],
      resources: {},
      leaseMs: 600_000,
      version: '0',
    },
    never,
  );
  const offer = { queues: null, commands: false, handlers: ['noop'], tags: [], free: {} };
  let done = 0;
  return await workOf(client, jobs, async () => {
    for (let claimSeq = 1; done < jobs; claimSeq += 1) {
      const claimed = await store.claim({ workerId: worker.id, limit: BATCH, offer, claimSeq, ahead: true }, never);
      if (claimed.length === 0) throw new Error(`nothing to claim after ${done} jobs`);
      await store.settle(
        claimed.map(({ id, attempt }) => ({ jobId: id, attempt, workerId: worker.id, exitCode: null })),
        never,
      );
      done += claimed.length;
    }
  });
}

async function submitPlain(store: Store): Promise<void> {
  for (let sent = 0; sent < jobs; sent += 1_000) {
    await store.insert(
      Array.from({ length: Math.min(1_000, jobs - sent) }, () => noop({ priority: 9 })),
      {},
      never,
    );
  }
}

async function fresh(body: (store: Store) => Promise<void>): Promise<void> {
  await client.query('drop schema if exists workron cascade');
  await using store = await openPostgres({ url: server.url, log: silentLog });
  await body(store);
}

interface Grown {
  title: string;
  most: number;
  steps: { size: number; work: Work }[];
}

const grown: Grown[] = [];
for (const { title, most, sizes, add } of PILES) {
  if (performance.now() > deadline) break;
  await fresh(async (store) => {
    const steps: Grown['steps'] = [];
    let size = 0;
    // The first drain makes the lane that the piles stand in, and fills the caches.
    await drain(store, submitPlain);
    for (const wanted of sizes.map((one) => Math.round(one * share))) {
      for (; size < wanted; size += Math.min(100_000, wanted - size))
        await add(client, Math.min(100_000, wanted - size));
      await client.query('vacuum workron.live');
      steps.push({ size, work: await drain(store, submitPlain) });
    }
    grown.push({ title, most, steps });
  });
}
for (const { title, most, sizes, submit } of keysAndQueues(jobs)) {
  if (performance.now() > deadline) break;
  const steps: Grown['steps'] = [];
  for (const size of sizes) {
    await fresh(async (store) => {
      await drain(store, (into) => submit(into, size));
      steps.push({ size, work: await drain(store, (into) => submit(into, size)) });
    });
  }
  grown.push({ title, most, steps });
}
await client.end();
print(grown);

function print(all: readonly Grown[]): void {
  console.log(
    '| what grows | from → to | pages per claim | pages per settle | last to first | goal | µs per claim | µs per settle |',
  );
  console.log('| --- | --- | --- | --- | --- | --- | --- | --- |');
  for (const { title, most, steps } of all) {
    const [few, many] = [steps[0], steps.at(-1)];
    if (few === undefined || many === undefined) continue;
    const pair = (of: keyof Work) => `${few.work[of].toFixed(1)} → ${many.work[of].toFixed(1)}`;
    const ratio = Math.max(many.work.claimPages / few.work.claimPages, many.work.settlePages / few.work.settlePages);
    const sizes = `${few.size.toLocaleString('en-US')} → ${many.size.toLocaleString('en-US')}`;
    const verdict = `≤ ${most} ${ratio <= most ? 'met' : 'not met'}`;
    console.log(
      `| ${title} | ${sizes} | ${pair('claimPages')} | ${pair('settlePages')} | ${ratio.toFixed(2)} | ${verdict} | ${pair('claimMs')} | ${pair('settleMs')} |`,
    );
  }
}

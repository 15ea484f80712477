/** Submits and drains per second. */

import { setTimeout as sleep } from 'node:timers/promises';
import { NEVER } from '../src/core/never.ts';
import { systemClock } from '../src/ops/clock.ts';
import { silentLog } from '../src/ops/log.ts';
import { Worker } from '../src/worker/worker.ts';
import { rate } from './measure.ts';
import { noop, type OpenScene, type Scene } from './scene.ts';
import { meter, type Usage } from './usage.ts';

const SLOTS = 24;
/** Jobs that are handled before the clock starts. */
const WARM_UP = 3_000;
const LOOK_MS = 2;

/** Single submits, 50 in flight, each resolved after its commit. */
export async function measureSingles(open: OpenScene, count: number): Promise<number> {
  await using scene = await open();
  await scene.scheduler.submit([noop()], {}, NEVER);
  let left = count;
  const submitter = async () => {
    while (left > 0) {
      left -= 1;
      await scene.scheduler.submit([noop()], {}, NEVER);
    }
  };
  return await rate(count, async () => {
    await Promise.all(Array.from({ length: 50 }, submitter));
  });
}

/** A thousand a call, one call after the other. */
export async function measureBulk(open: OpenScene, count: number): Promise<number> {
  await using scene = await open();
  return await rate(count, () => submitMany(scene, count));
}

async function submitMany({ scheduler }: Scene, count: number): Promise<void> {
  const thousand = Array.from({ length: 1_000 }, () => noop());
  for (let done = 0; done < count; done += 1_000) await scheduler.submit(thousand.slice(0, count - done), {}, NEVER);
}

export interface Drained {
  perSecond: number;
  usage: Usage;
}

/** Jobs drained per second. */
export async function measureDrain(open: OpenScene, count: number): Promise<number> {
  return (await drain(open, count)).perSecond;
}

/**
 * From a full queue until no job waits or runs. The tables are analysed first, and the worker's code is warm. On PostgreSQL the
 * end is what another connection sees. The submitter and the scheduler run in the worker's process, and so does this.
 */
export async function drain(open: OpenScene, count: number): Promise<Drained> {
  await using scene = await open();
  const { outside } = scene;
  await workOff(scene, Math.min(count, WARM_UP));
  await submitMany(scene, count);
  await outside?.admin.settle({ analyze: true });
  const read = await meter({
    processes: [process.pid],
    server: outside?.admin.postmaster,
    admin: outside?.admin,
  });
  const startedAt = performance.now();
  const worker = await workThrough(scene, count);
  const ms = performance.now() - startedAt;
  const usage = await read(count);
  await worker.drain();
  return { perSecond: (count * 1_000) / ms, usage };
}

async function workOff(scene: Scene, count: number): Promise<void> {
  await submitMany(scene, count);
  const worker = await workThrough(scene, count);
  await worker.drain();
}

/** Starts a worker; resolves once it has handled `count` jobs and nothing is left. */
async function workThrough(scene: Scene, count: number): Promise<Worker> {
  let handled = 0;
  const finished = Promise.withResolvers<void>();
  const worker = noopWorker(scene, () => {
    handled += 1;
    if (handled === count) finished.resolve();
  });
  void worker.run();
  await finished.promise;
  while (await hasUnfinished(scene)) await sleep(LOOK_MS);
  return worker;
}

async function hasUnfinished({ scheduler, outside }: Scene): Promise<boolean> {
  if (outside !== undefined) return await outside.admin.exists(`"${outside.schema}".live`);
  return (await scheduler.queues(NEVER)).some(({ pending, running }) => pending + running > 0);
}

export function noopWorker({ source }: Scene, onJob: (input: unknown) => void): Worker {
  return new Worker({
    source,
    profile: {
      name: 'bench',
      slots: SLOTS,
      queues: null,
      commands: false,
      handlers: ['noop'],
      tags: [],
      resources: {},
    },
    handlers: { noop: (input) => onJob(input) },
    clock: systemClock,
    random: Math.random,
    log: silentLog,
  });
}

/** Submits and drains per second. */

import { NEVER } from '../src/core/never.ts';
import { systemClock } from '../src/ops/clock.ts';
import { silentLog } from '../src/ops/log.ts';
import { Worker } from '../src/worker/worker.ts';
import { rate } from './measure.ts';
import { noop, type OpenScene, type Scene } from './scene.ts';

const SLOTS = 1_000;

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

/** A thousand jobs per call, one call after the other. */
export async function measureBulk(open: OpenScene, count: number): Promise<number> {
  await using scene = await open();
  return await rate(count, () => submitMany(scene, count));
}

async function submitMany({ scheduler }: Scene, count: number): Promise<void> {
  const thousand = Array.from({ length: 1_000 }, () => noop());
  for (let done = 0; done < count; done += 1_000) await scheduler.submit(thousand.slice(0, count - done), {}, NEVER);
}

/** From a full queue until the store has no waiting or running job. */
export async function measureDrain(open: OpenScene, count: number): Promise<number> {
  await using scene = await open();
  await submitMany(scene, count);
  let handled = 0;
  const finished = Promise.withResolvers<void>();
  const worker = noopWorker(scene, () => {
    handled += 1;
    if (handled === count) finished.resolve();
  });
  const perSecond = await rate(count, async () => {
    void worker.run();
    await finished.promise;
    while ((await scene.scheduler.queues(NEVER)).some(({ pending, running }) => pending + running > 0));
  });
  await worker.drain();
  return perSecond;
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

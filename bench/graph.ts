/** Drains a graph and the same number of independent jobs in the same round. */

import type { NewStep } from '../src/core/dag/new-workflow.ts';
import { NEVER } from '../src/core/never.ts';
import { rate } from './measure.ts';
import { noop, type OpenScene, type Scene } from './scene.ts';
import { measureDrain, noopWorker } from './throughput.ts';

const WIDTH = 1_000;

export interface GraphRates {
  /** Steps stored per second, in one call. */
  stored: number;
  drained: number;
  /** The drain rate as a share of that of independent jobs. */
  share: number;
}

export async function measureGraph(open: OpenScene, count: number): Promise<GraphRates> {
  const alone = await measureDrain(open, count);
  await using scene = await open();
  let id = 0;
  const stored = await rate(count, async () => {
    id = await storeGraph(scene, count);
  });
  await scene.outside?.admin.settle({ analyze: true });
  const drained = await drainGraph(scene, { id, count });
  return { stored, drained, share: drained / alone };
}

/** Stores layers of a thousand steps; each step waits for two of the layer before. Returns the workflow's id. */
export async function storeGraph({ scheduler }: Scene, count: number): Promise<number> {
  const workflow = { name: 'bench', params: {}, steps: layers(count), rerunOf: null };
  return (await scheduler.submitWorkflow(workflow, {}, NEVER)).workflow.id;
}

/** Runs all steps; returns the number of steps per second. */
export async function drainGraph(scene: Scene, { id, count }: { id: number; count: number }): Promise<number> {
  let handled = 0;
  const finished = Promise.withResolvers<void>();
  const worker = noopWorker(scene, () => {
    handled += 1;
    if (handled === count) finished.resolve();
  });
  const running = worker.run();
  const drained = await rate(count, async () => {
    await finished.promise;
    while ((await scene.store.workflow(id, NEVER))?.status !== 'done') await new Promise(setImmediate);
  });
  await worker.drain();
  await running;
  return drained;
}

function layers(count: number): NewStep[] {
  return Array.from({ length: count }, (_, place) => ({
    key: `s${place}`,
    job: noop(),
    parents: place < WIDTH ? [] : [place - WIDTH, place - (place % WIDTH) - WIDTH + ((place + 1) % WIDTH)],
    condition: 'success',
    forEach: null,
    keepFrom: null,
  }));
}

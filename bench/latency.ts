/** From the call of submit to the start of the handler, one job at a time on an idle system. */

import { NEVER } from '../src/core/never.ts';
import { percentile } from './measure.ts';
import { noop, type OpenScene } from './scene.ts';
import { noopWorker } from './throughput.ts';

const ROUNDS = 300;
export async function measureLatency(open: OpenScene): Promise<{ p50: number; p99: number }> {
  await using scene = await open();
  let started = Promise.withResolvers<number>();
  const worker = noopWorker(scene, () => started.resolve(performance.now()));
  const running = worker.run();
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    started = Promise.withResolvers();
    const submitted = performance.now();
    await scene.scheduler.submit([noop()], {}, NEVER);
    times.push((await started.promise) - submitted);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await worker.drain();
  await running;
  return { p50: percentile(times, 0.5), p99: percentile(times, 0.99) };
}

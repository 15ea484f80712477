/** The cost of one idle `up`. */

import type { Driver } from '../src/core/driver.ts';
import { NEVER } from '../src/core/never.ts';
import type { Figure } from './measure.ts';
import type { Scenes } from './scene.ts';
import { noopWorker } from './throughput.ts';

const WATCH_MS = 10_000;
export async function measureIdle(driver: Driver, on: Scenes): Promise<Figure[]> {
  await using scene = await on.open();
  const worker = noopWorker(scene, () => undefined);
  const running = worker.run();
  await scene.scheduler.queues(NEVER);
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  const cpu = process.cpuUsage();
  const before = await on.transactions?.();
  await new Promise((resolve) => setTimeout(resolve, WATCH_MS));
  const used = process.cpuUsage(cpu);
  const after = await on.transactions?.();
  await worker.drain();
  await running;
  const seconds = WATCH_MS / 1_000;
  const share = ((used.user + used.system) / 1_000 / WATCH_MS) * 100;
  const figures: Figure[] = [{ what: 'idle: CPU of the process', store: driver, unit: '% of a core', values: [share] }];
  if (before !== undefined && after !== undefined) {
    figures.push({
      what: 'idle: transactions in the database',
      store: driver,
      unit: '1/s',
      values: [(after - before) / seconds],
    });
  }
  return figures;
}

/** Shell jobs per second compared with Node's spawn, one after the other in the same round. */

import { spawn } from 'node:child_process';
import { DEFAULT_SPEC } from '../src/core/job.ts';
import { NEVER } from '../src/core/never.ts';
import { systemClock } from '../src/ops/clock.ts';
import { silentLog } from '../src/ops/log.ts';
import { Worker } from '../src/worker/worker.ts';
import { rate } from './measure.ts';
import type { OpenScene } from './scene.ts';

const COUNT = 500;
const SLOTS = 4;
export async function measureShell(open: OpenScene): Promise<{ ours: number; bare: number }> {
  return { bare: await bareSpawn(), ours: await shellJobs(open) };
}

async function shellJobs(open: OpenScene): Promise<number> {
  await using scene = await open();
  const { scheduler, source } = scene;
  const job = { ...DEFAULT_SPEC, command: 'true', runAt: null, delayMs: null, unique: null, dependsOn: [] };
  const worker = new Worker({
    source,
    profile: { name: 'bench', slots: SLOTS, queues: null, commands: true, handlers: [], tags: [], resources: {} },
    clock: systemClock,
    random: Math.random,
    log: silentLog,
  });
  const running = worker.run();
  const [first] = (await scheduler.submit([job], {}, NEVER)).items;
  await scheduler.wait(first?.job.id ?? 0, 60_000, NEVER);
  const perSecond = await rate(COUNT, async () => {
    const { items } = await scheduler.submit(
      Array.from({ length: COUNT }, () => job),
      {},
      NEVER,
    );
    for (const item of items) await scheduler.wait(item.job.id, 60_000, NEVER);
  });
  await worker.drain();
  await running;
  return perSecond;
}

function bareSpawn(): Promise<number> {
  let left = COUNT;
  const loop = async () => {
    while (left > 0) {
      left -= 1;
      const child = spawn('sh', ['-c', 'true'], { stdio: ['ignore', 'pipe', 'pipe'] });
      child.stdout.resume();
      child.stderr.resume();
      await new Promise((resolve) => child.on('close', resolve));
    }
  };
  return rate(COUNT, async () => {
    await Promise.all(Array.from({ length: SLOTS }, loop));
  });
}

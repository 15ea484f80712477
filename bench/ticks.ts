/** The lateness of ticks with few and with many schedules, at up to a hundred ticks per second. */

import { DEFAULT_SPEC } from '../src/core/job.ts';
import { NEVER } from '../src/core/never.ts';
import { DEFAULT_CATCHUP } from '../src/core/schedule/plan-ticks.ts';
import { percentile } from './measure.ts';
import type { OpenScene } from './scene.ts';

const WATCH_MS = 15_000;
const AT_ONCE = 50;
const PAGE = 1_000;
export async function measureTicks(open: OpenScene, schedules: number): Promise<{ p50: number; p99: number }> {
  await using scene = await open();
  const { scheduler } = scene;
  // Ten milliseconds apart, so that schedules are not all due at once.
  const everyMs = Math.max(1_000, schedules * 10);
  const job = { ...DEFAULT_SPEC, command: 'true', queue: 'nobody' };
  const make = (index: number) =>
    scheduler.createSchedule(
      {
        name: `s-${index}`,
        owner: null,
        cron: null,
        everyMs,
        anchor: index * 10,
        timezone: 'UTC',
        overlap: 'allow',
        catchup: DEFAULT_CATCHUP,
        jitterMs: 0,
        startAt: null,
        endAt: null,
        forEach: null,
        target: { job },
      },
      NEVER,
    );
  for (let start = 0; start < schedules; start += AT_ONCE) {
    const count = Math.min(AT_ONCE, schedules - start);
    await Promise.all(Array.from({ length: count }, (_, index) => make(start + index)));
  }
  const from = Date.now();
  await new Promise((resolve) => setTimeout(resolve, WATCH_MS));
  const late: number[] = [];
  for (let after: string | null = null; ; ) {
    const page = await scheduler.schedules({}, { after, limit: PAGE }, NEVER);
    for (const { name, lastRun } of page.items) {
      if (lastRun === null || lastRun < from) continue;
      const { items } = await scheduler.ticks(name, { verdict: 'ran' }, { before: null, limit: 100 }, NEVER);
      for (const { scheduledFor, latenessMs } of items) if (scheduledFor >= from) late.push(latenessMs ?? 0);
    }
    after = page.nextAfter;
    if (after === null) break;
  }
  return { p50: percentile(late, 0.5), p99: percentile(late, 0.99) };
}

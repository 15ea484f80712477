import { systemClock } from '../../../src/ops/clock.ts';
import { silentLog } from '../../../src/ops/log.ts';
import { Metrics } from '../../../src/ops/metrics.ts';
import { createScheduler } from '../../../src/scheduler/create-scheduler.ts';
import type { Scheduler } from '../../../src/scheduler/scheduler.ts';
import { openMemory } from '../../../src/store/memory/open.ts';
import type { Store } from '../../../src/store/store.ts';

/** A scheduler by the real clock, on memory unless told otherwise. */
export function testScheduler(store: Store = openMemory({ clock: systemClock })): Scheduler {
  return createScheduler({
    store,
    clock: systemClock,
    random: Math.random,
    log: silentLog,
    metrics: new Metrics('0', 'test'),
    instanceId: 'test',
    leaseMs: 30_000,
    heartbeatMs: 5_000,
  }).scheduler;
}

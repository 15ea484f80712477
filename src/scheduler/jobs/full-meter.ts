/** Says which limit or rate a job waits for. Asks the same rule as a claim does. */

import type { Job } from '../../core/job.ts';
import {
  type FullMeter,
  fullMeter,
  keyOfMeter,
  type MeterUse,
  metersOf,
  queueMeter,
  queueMeterName,
} from '../../core/meter.ts';
import type { QueueSettings } from '../../core/queue.ts';
import type { SchedulerContext } from '../context.ts';

/** `null` if none is full. */
export async function fullMeterOf(
  { store }: SchedulerContext,
  { job, queueRate }: { job: Job; queueRate: QueueSettings['rate'] },
  signal: AbortSignal,
): Promise<string | null> {
  const meters = [...metersOf(job), ...(queueRate === null ? [] : [queueMeter(job.queue, queueRate)])];
  if (meters.length === 0) return null;
  const names = meters.map(({ name }) => name);
  const [uses, now] = await Promise.all([store.meterUse(names, signal), store.now(signal)]);
  const full = fullMeter(meters, (name) => uses[names.indexOf(name)] as MeterUse, now);
  return full === undefined ? null : describe(full);
}

function describe({ meter, inUse, most, opensAt }: FullMeter): string {
  const own = keyOfMeter(meter.name);
  const key = meter.name === queueMeterName(own) ? `queue ${own}` : own;
  if (opensAt === null) return `a place under the limit of ${key}: ${inUse} of ${most} run`;
  const when = `it opens at ${new Date(opensAt).toISOString()}`;
  if (inUse < most) return `the rate of ${key}, which was closed: ${when}`;
  return `the rate of ${key}: ${inUse} of ${most} have started within ${(meter.windowMs ?? 0) / 1_000} s, ${when}`;
}

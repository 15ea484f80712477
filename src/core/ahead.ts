/** Which jobs claims start before another one of the same queue. */

import type { Lane } from './lane.ts';
import { fullMeter, type Limit, type MeterUse, metersOf, type Rate, withStart } from './meter.ts';
import { couldRun } from './outlook.ts';
import type { WorkerRow } from './worker.ts';

/** What a job says about limits and rates. */
export interface MeteredJob {
  limits: readonly Limit[];
  rates: readonly Rate[];
}

/**
 * Tells of lanes of the same queue whether their jobs may come before those of `own`: a worker that could run `own` could run them, too.
 * Members of gangs do not, as they are started by their places.
 */
export function rivalsOf(own: Lane, workers: readonly WorkerRow[]): (lane: Lane) => boolean {
  const able = workers.filter((worker) => couldRun(worker, own));
  return (lane) =>
    lane.queue === own.queue && !lane.gang && (able.length === 0 || able.some((worker) => couldRun(worker, lane)));
}

/** How many of these jobs can start now by their limits and rates, one after the other. */
export function countStarting(jobs: readonly MeteredJob[], useOf: (name: string) => MeterUse, now: number): number {
  const uses = new Map<string, MeterUse>();
  const useNow = (name: string) => uses.get(name) ?? useOf(name);
  const starting = jobs.filter((job) => {
    const meters = metersOf(job);
    if (fullMeter(meters, useNow, now) !== undefined) return false;
    for (const meter of meters) uses.set(meter.name, withStart(useNow(meter.name), meter, now));
    return true;
  });
  return starting.length;
}

/** Says which limit or rate a job waits for. Asks the same rule as a claim does. */

import { endOfSome } from '../../core/capacity.ts';
import type { Job } from '../../core/job.ts';
import {
  type FullMeter,
  fullMeter,
  keyOfMeter,
  type MeterUse,
  metersOf,
  nextStart,
  queueMeter,
  queueMeterName,
} from '../../core/meter.ts';
import type { QueueSettings } from '../../core/queue.ts';
import type { SchedulerContext } from '../context.ts';
import { MAX_COUNTED, MAX_RUNNING, positionOf, startOf } from './position.ts';

/** `null` if none is full. `kept`: how many of the next starts in its queue are kept for members of gangs. */
export async function fullMeterOf(
  { store }: SchedulerContext,
  { job, queueRate, kept }: { job: Job; queueRate: QueueSettings['rate']; kept: number },
  signal: AbortSignal,
): Promise<string | null> {
  const meters = [...metersOf(job), ...(queueRate === null ? [] : [queueMeter(job.queue, queueRate)])];
  if (meters.length === 0) return null;
  const names = meters.map(({ name }) => name);
  const [uses, now] = await Promise.all([store.meterUse(names, signal), store.now(signal)]);
  const useOf = (name: string) => uses[names.indexOf(name)] as MeterUse;
  const full = fullMeter(meters, useOf, now);
  if (full === undefined) return null;
  const { name } = full.meter;
  const isQueue = name === queueMeterName(job.queue);
  const ahead = isQueue
    ? await store.countAhead(job.id, MAX_COUNTED, signal)
    : await store.countAheadAt(name, job.id, MAX_COUNTED, signal);
  const startsAt =
    full.opensAt === null
      ? await freeAt(store, { key: keyOfMeter(name), ends: full.inUse - full.max + 1 + ahead }, signal)
      : nextStart(full.meter, useOf(name), { now, ahead: isQueue ? ahead + kept : ahead });
  const gangs = isQueue && kept > 0 ? `, the next ${kept} are kept for gangs` : '';
  return describe(full, { key: isQueue ? `queue ${job.queue}` : keyOfMeter(name), ahead, startsAt, gangs });
}

/** The instant by which `ends` of the running jobs with the key have ended. */
async function freeAt(
  store: SchedulerContext['store'],
  { key, ends }: { key: string; ends: number },
  signal: AbortSignal,
): Promise<number | null> {
  const running = await store.holders(key, MAX_RUNNING, signal);
  return running.length === MAX_RUNNING ? null : endOfSome(await store.read(running, signal), ends);
}

function describe(
  { meter, inUse, max, opensAt }: FullMeter,
  { key, ahead, startsAt, gangs }: { key: string; ahead: number; startsAt: number | null; gangs: string },
): string {
  const position = positionOf(ahead);
  if (opensAt === null)
    return `a place under the limit of ${key}: ${inUse} of ${max} run, ${position}${startOf(startsAt)}`;
  const opens = `it opens at ${new Date(opensAt).toISOString()}`;
  const isNext = ahead === 0 && gangs === '';
  const start = startsAt === null || isNext ? '' : `, expected to start at ${new Date(startsAt).toISOString()}`;
  const when = `${opens}${gangs}; ${position}${start}`;
  if (inUse < max) return `the rate of ${key}, which was closed: ${when}`;
  return `the rate of ${key}: ${inUse} of ${max} have started within ${(meter.windowMs ?? 0) / 1_000} s, ${when}`;
}

/** Which limit or rate a job waits for. Asks the same rule as a claim does. */

import type { Waiting } from '../../api/waiting.ts';
import { endOfSome } from '../../core/capacity.ts';
import type { Job } from '../../core/job.ts';
import {
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
import { instantOrNull, MAX_COUNTED, MAX_RUNNING } from './position.ts';

/** `null` if none is full. `kept`: how many of the next starts in its queue are kept for members of gangs. */
export async function fullMeterOf(
  { store }: SchedulerContext,
  { job, queueRate, kept }: { job: Job; queueRate: QueueSettings['rate']; kept: number },
  signal: AbortSignal,
): Promise<Waiting | null> {
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
  const { inUse, max, opensAt } = full;
  const key = keyOfMeter(name);
  if (opensAt === null) {
    const startsAt = await freeAt(store, { key, ends: inUse - max + 1 + ahead }, signal);
    return { code: 'limit', key, running: inUse, max, ahead, starts_at: instantOrNull(startsAt) };
  }
  const before = isQueue ? kept : 0;
  const startsAt = nextStart(full.meter, useOf(name), { now, ahead: ahead + before });
  return {
    code: 'rate',
    key: isQueue ? null : key,
    queue: job.queue,
    started: inUse,
    max,
    per: full.meter.windowMs ?? 0,
    opens_at: new Date(opensAt).toISOString(),
    kept: before,
    ahead,
    starts_at: instantOrNull(startsAt),
  };
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

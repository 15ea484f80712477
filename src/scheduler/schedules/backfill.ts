/** Runs past ticks of a schedule that have no run. */

import { WorkronError } from '../../core/error.ts';
import { keysOf } from '../../core/schedule/change-schedule.ts';
import { oldestTicks } from '../../core/schedule/recurrence.ts';
import { recurrenceOf } from '../../core/schedule/recurrence-of.ts';
import { MAX_BACKFILLED, type Schedule } from '../../core/schedule/schedule.ts';
import type { Tick } from '../../core/schedule/tick.ts';
import type { SchedulerContext } from '../context.ts';

/** The number of ticks that one range may hold, with and without a run. */
const MAX_EXAMINED = 100_000;

export interface BackfillRequest {
  /** Ticks in [from, to); `to` is not later than now. */
  from: number;
  to: number;
  /** `null`: all keys of the schedule. */
  keys: readonly string[] | null;
  /** True to list the ticks without running them. */
  dryRun: boolean;
}

export interface Backfilled {
  /** Ticks of the range that had no run, oldest first. */
  missing: { key: string; scheduledFor: number }[];
  /** Their ledger rows; empty in a dry run. */
  ticks: Tick[];
  replayed: boolean;
}

/** The schedule's ticks in the requested range. */
export function ticksInRange(schedule: Schedule, { from, to }: BackfillRequest, now: number): number[] {
  if (to > now) {
    throw new WorkronError(
      'bad_request',
      `to: expected an instant not later than now (${new Date(now).toISOString()})`,
    );
  }
  const recurrence = recurrenceOf(schedule);
  const count = recurrence.count(from - 1, to - 1);
  if (count > MAX_EXAMINED) {
    throw new WorkronError('bad_request', `${count} ticks of ${schedule.name} are in this range; choose a shorter one`);
  }
  return oldestTicks(recurrence, from - 1, to - 1, count);
}

/** Returns the ticks at these instants that have no run, oldest first. */
export async function ticksWithoutRun(
  { store }: SchedulerContext,
  { schedule, keys, instants }: { schedule: Schedule; keys: BackfillRequest['keys']; instants: readonly number[] },
  signal: AbortSignal,
): Promise<Backfilled['missing']> {
  const { name } = schedule;
  const missing: Backfilled['missing'] = [];
  for (const key of keys ?? keysOf(schedule)) {
    const without = await store.ticksWithoutRun(name, { key, instants }, signal);
    if (without === undefined) throw scheduleNotFound(name);
    missing.push(...without.map((scheduledFor) => ({ key, scheduledFor })));
  }
  if (missing.length > MAX_BACKFILLED) {
    throw new WorkronError(
      'bad_request',
      `${missing.length} ticks of ${name} in this range have no run; at most ${MAX_BACKFILLED} at a time`,
    );
  }
  return missing.sort((a, b) => a.scheduledFor - b.scheduledFor);
}

export function scheduleNotFound(name: string): WorkronError {
  return new WorkronError('schedule_not_found', `No schedule ${name}`);
}

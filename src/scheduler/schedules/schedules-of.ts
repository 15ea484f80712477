/** What people do with schedules. */

import { WorkronError } from '../../core/error.ts';
import { keysOf } from '../../core/schedule/change-schedule.ts';
import { oldestTicks } from '../../core/schedule/recurrence.ts';
import { recurrenceOf } from '../../core/schedule/recurrence-of.ts';
import { MAX_BACKFILLED, SCHEDULE_NAME, type Schedule } from '../../core/schedule/schedule.ts';
import type { Tick } from '../../core/schedule/tick.ts';
import type { SchedulerContext } from '../context.ts';
import { withInstallation } from '../notify/targets.ts';
import { changeSchedule } from './change-schedule.ts';
import type { Backfilled, BackfillRequest, Schedules } from './schedules.ts';

/** Of a range that somebody wants to backfill; more are looked at in several requests. */
const MAX_EXAMINED = 100_000;

export function schedulesOf(context: SchedulerContext): Schedules {
  const { store } = context;
  const find = (name: string, signal: AbortSignal) => findSchedule(context, name, signal);
  return {
    async createSchedule(schedule, signal) {
      if (!SCHEDULE_NAME.test(schedule.name)) {
        const came = JSON.stringify(schedule.name.slice(0, 64));
        throw new WorkronError('schedule_invalid', `name: expected a-z, 0-9, ".", "_" and "-", got ${came}`);
      }
      return await store.createSchedule(schedule, signal);
    },
    schedule: find,
    async schedules(filter, page, signal) {
      const found = await store.schedules(filter, { after: page.after, limit: page.limit + 1 }, signal);
      const items = found.slice(0, page.limit);
      return { items, nextAfter: found.length > page.limit ? (items.at(-1)?.name ?? null) : null };
    },
    editSchedule: async (name, edit, signal) =>
      there(await changeSchedule(context, name, { type: 'edit', edit }, signal), name),
    async deleteSchedule(name, signal) {
      if (!(await store.deleteSchedule(name, signal))) throw notFound(name);
    },
    pauseSchedule: async (name, note, signal) =>
      there(await changeSchedule(context, name, { type: 'pause', note }, signal), name),
    resumeSchedule: async (name, signal) =>
      there(await changeSchedule(context, name, { type: 'resume' }, signal), name),
    async runSchedule(name, { keys }, options, signal) {
      const request = { kind: 'manual', keys, instants: [], notify: withInstallation([], context.notify) } as const;
      const answer = there(await store.runSchedule(name, request, options, signal), name);
      if (answer.ticks.some(({ verdict }) => verdict === 'ran')) {
        await count(context, answer, signal);
        return answer;
      }
      const { overlap } = await find(name, signal);
      throw new WorkronError(
        'illegal_transition',
        `Schedule ${name} has an unfinished run, and its overlap policy is ${overlap}; wait for it or cancel it`,
      );
    },
    backfillSchedule: (name, request, options, signal) => backfill(context, { name, request, options }, signal),
    async nextTicks(name, count, signal) {
      const schedule = await find(name, signal);
      const now = await store.now(signal);
      const ticks = oldestTicks(recurrenceOf(schedule), now, Number.POSITIVE_INFINITY, count);
      return { timezone: schedule.timezone, ticks };
    },
    async ticks(name, filter, page, signal) {
      const found = there(
        await store.ticks(name, filter, { before: page.before, limit: page.limit + 1 }, signal),
        name,
      );
      const items = found.slice(0, page.limit);
      return { items, nextBefore: found.length > page.limit ? (items.at(-1)?.id ?? null) : null };
    },
  };
}

function notFound(name: string): WorkronError {
  return new WorkronError('schedule_not_found', `No schedule ${name}`);
}

function there<T>(found: T | undefined, name: string): T {
  if (found === undefined) throw notFound(name);
  return found;
}

async function findSchedule({ store }: SchedulerContext, name: string, signal: AbortSignal): Promise<Schedule> {
  return there(await store.schedule(name, signal), name);
}

interface BackfillCall {
  name: string;
  request: BackfillRequest;
  options: { idempotency?: { key: string; fingerprint: string } };
}

async function backfill(
  context: SchedulerContext,
  { name, request, options }: BackfillCall,
  signal: AbortSignal,
): Promise<Backfilled> {
  const { store } = context;
  const schedule = await findSchedule(context, name, signal);
  const instants = instantsOf(schedule, request, await store.now(signal));
  const missing: Backfilled['missing'] = [];
  for (const key of request.keys ?? keysOf(schedule)) {
    const without = there(await store.ticksWithoutRun(name, { key, instants }, signal), name);
    missing.push(...without.map((scheduledFor) => ({ key, scheduledFor })));
  }
  if (missing.length > MAX_BACKFILLED) {
    throw new WorkronError(
      'bad_request',
      `${missing.length} ticks of ${name} in this range have no run; at most ${MAX_BACKFILLED} at a time`,
    );
  }
  missing.sort((a, b) => a.scheduledFor - b.scheduledFor);
  if (request.dryRun) return { missing, ticks: [], replayed: false };
  const wanted = {
    kind: 'backfill',
    keys: request.keys,
    instants,
    notify: withInstallation([], context.notify),
  } as const;
  const answer = there(await store.runSchedule(name, wanted, options, signal), name);
  await count(context, answer, signal);
  const { ticks, replayed } = answer;
  return { missing: ticks.map(missingOf), ticks, replayed };
}

function missingOf({ key, scheduledFor }: Tick): Backfilled['missing'][number] {
  return { key, scheduledFor };
}

/** The schedule's ticks in the range. */
function instantsOf(schedule: Schedule, { from, to }: BackfillRequest, now: number): number[] {
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

/** What a person has started. It has been done, so nothing here may fail it. */
async function count(
  { store, telemetry, log }: SchedulerContext,
  { ticks, replayed }: { ticks: readonly Tick[]; replayed: boolean },
  signal: AbortSignal,
): Promise<void> {
  const ids = ticks.flatMap(({ jobId }) => jobId ?? []);
  if (replayed || ids.length === 0) return;
  try {
    telemetry.submitted((await store.read(ids, signal)).map((job) => ({ job, deduplicated: false })));
  } catch (error) {
    log.debug({ error }, 'jobs that a schedule was asked to run could not be counted');
  }
}

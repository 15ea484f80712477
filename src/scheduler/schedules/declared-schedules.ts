/** Declared schedules: `putSchedule` for one of them, `applySchedules` for an owner's whole list. */

import { isWorkronError, WorkronError } from '../../core/error.ts';
import { firstTick } from '../../core/schedule/recurrence-of.ts';
import type { NewSchedule, Schedule } from '../../core/schedule/schedule.ts';
import type { Schedules } from './schedules.ts';

interface ApplyRequest {
  owner: string;
  schedules: readonly NewSchedule[];
  dryRun: boolean;
  now: number;
}

interface Applied {
  name: string;
  action: 'add' | 'change' | 'remove' | 'keep';
  /** The fields that a change changes. */
  fields: string[];
}

const PAGE = 200;

interface Put {
  schedule: Schedule;
  action: Exclude<Applied['action'], 'remove'>;
}

/**
 * Creates the schedule, changes it, or leaves it alone, so that it is as declared. Any number of processes may call this
 * at once. A paused schedule stays paused; ticks change only if the timing does. Throws `schedule_exists` if the
 * schedule has another owner.
 */
export async function putSchedule(schedules: Schedules, wanted: NewSchedule, signal: AbortSignal): Promise<Put> {
  const { name, ...spec } = wanted;
  for (;;) {
    const present = await findSchedule(schedules, name, signal);
    try {
      if (present === undefined) return { action: 'add', schedule: await schedules.createSchedule(wanted, signal) };
      if (present.owner !== wanted.owner) throw ownedByOther(present);
      if (compare(wanted, await schedules.openSchedule(present, signal)).action === 'keep')
        return { action: 'keep', schedule: present };
      return { action: 'change', schedule: await schedules.editSchedule(name, spec, signal) };
    } catch (error) {
      // Another process created or deleted it meanwhile: compare again.
      const lost = present === undefined ? 'schedule_exists' : 'schedule_not_found';
      if (!isWorkronError(error, lost)) throw error;
    }
  }
}

/**
 * Makes the owner's schedules equal to the list. All of it is checked before anything is changed. Each schedule is then
 * changed in a transaction of its own; if the process dies in between, applying the same list again completes it.
 */
export async function applySchedules(
  schedules: Schedules,
  { owner, schedules: listed, dryRun, now }: ApplyRequest,
  signal: AbortSignal,
): Promise<Applied[]> {
  const wanted = listed.map((schedule) => ({ ...schedule, owner }));
  const present = new Map((await ownedBy(schedules, owner, signal)).map((schedule) => [schedule.name, schedule]));
  const names = new Set(wanted.map(({ name }) => name));
  const gone = [...present.values()].filter(({ name }) => !names.has(name));
  const plan: (Applied & { schedule: NewSchedule })[] = [
    ...wanted.map((schedule) => ({ schedule, ...compare(schedule, present.get(schedule.name)) })),
    ...gone.map((schedule) => ({ schedule, name: schedule.name, action: 'remove' as const, fields: [] })),
  ];
  for (const { schedule, action } of plan) {
    if (action === 'add' || action === 'change') checkTicks(schedule, now);
    const other = action === 'add' ? await findSchedule(schedules, schedule.name, signal) : undefined;
    if (other !== undefined) throw ownedByOther(other);
  }
  if (!dryRun) for (const step of plan) await carryOut(schedules, step, signal);
  return plan.map(({ name, action, fields }) => ({ name, action, fields }));
}

async function ownedBy(schedules: Schedules, owner: string, signal: AbortSignal): Promise<Schedule[]> {
  const found: Schedule[] = [];
  let after: string | null = null;
  do {
    const page = await schedules.schedules({ owner }, { after, limit: PAGE }, signal);
    for (const schedule of page.items) found.push(await schedules.openSchedule(schedule, signal));
    after = page.nextAfter;
  } while (after !== null);
  return found;
}

/** Throws if the schedule never fires. The message names the schedule, so that it can be found in a list. */
function checkTicks(schedule: NewSchedule, now: number): void {
  try {
    firstTick(schedule, now);
  } catch (error) {
    if (!isWorkronError(error, 'schedule_invalid')) throw error;
    throw new WorkronError('schedule_invalid', `${schedule.name}: ${error.message}`);
  }
}

async function findSchedule(schedules: Schedules, name: string, signal: AbortSignal): Promise<Schedule | undefined> {
  try {
    return await schedules.schedule(name, signal);
  } catch (error) {
    if (isWorkronError(error, 'schedule_not_found')) return undefined;
    throw error;
  }
}

/** A schedule is changed only by its owner, who would otherwise change it back. */
function ownedByOther({ name, owner }: Schedule): WorkronError {
  const whose = owner === null ? 'has no owner' : `belongs to ${JSON.stringify(owner)}`;
  return new WorkronError(
    'schedule_exists',
    `The schedule ${name} already exists and ${whose}; change its owner to hand it over, or rename one`,
  );
}

function compare(wanted: NewSchedule, present: Schedule | undefined): Applied {
  const { name } = wanted;
  if (present === undefined) return { name, action: 'add', fields: [] };
  const fields = differences(specOf(present), specOf(wanted));
  return { name, action: fields.length === 0 ? 'keep' : 'change', fields };
}

/** The fields by their names in a file. */
function specOf(schedule: NewSchedule): Record<string, unknown> {
  const { target } = schedule;
  return {
    cron: schedule.cron,
    every: schedule.everyMs,
    anchor: schedule.everyMs === null ? 0 : schedule.anchor,
    timezone: schedule.timezone,
    overlap: schedule.overlap,
    catchup: schedule.catchup,
    jitter: schedule.jitterMs,
    start_at: schedule.startAt,
    end_at: schedule.endAt,
    for_each: schedule.forEach,
    notify: schedule.notify ?? [],
    job: 'job' in target ? target.job : null,
    workflow: 'workflow' in target ? target.workflow : null,
    definition: schedule.uses ?? null,
  };
}

function differences(before: Record<string, unknown>, after: Record<string, unknown>): string[] {
  return Object.keys(after).flatMap((field) => {
    const [old, now] = [before[field], after[field]];
    if (canonical(old) === canonical(now)) return [];
    if (field !== 'job' || !isObject(old) || !isObject(now)) return [field];
    const changed = Object.keys(now).filter((key) => canonical(old[key]) !== canonical(now[key]));
    return [...new Set(changed.map((key) => `job.${snake(key)}`))];
  });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** The same text for equal values, whatever the order of their keys; a missing value counts as `null`. */
function canonical(value: unknown): string {
  return JSON.stringify(value ?? null, (_, each: unknown) =>
    isObject(each) && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );
}

/** The name of a field in a file: `timeoutMs` is `timeout`. */
function snake(key: string): string {
  if (key === 'sealedInput') return 'input';
  return key.replace(/Ms$/, '').replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

async function carryOut(
  schedules: Schedules,
  { schedule, action }: { schedule: NewSchedule; action: Applied['action'] },
  signal: AbortSignal,
): Promise<void> {
  const { name, ...spec } = schedule;
  if (action === 'add') await schedules.createSchedule(schedule, signal);
  if (action === 'change') await schedules.editSchedule(name, spec, signal);
  if (action === 'remove') await schedules.deleteSchedule(name, signal);
}

/**
 * Declared schedules: what an owner has is made to be what a list says. Nothing is changed before all of it has been
 * looked at; then each schedule is a step of its own, so one that dies on the way is finished by doing the same again.
 */

import { isWorkronError, WorkronError } from '../../core/error.ts';
import { recurrenceOf } from '../../core/schedule/recurrence-of.ts';
import { requireTicks } from '../../core/schedule/require-ticks.ts';
import type { NewSchedule, Schedule } from '../../core/schedule/schedule.ts';
import type { Schedules } from './schedules.ts';

export interface ApplyRequest {
  owner: string;
  schedules: readonly NewSchedule[];
  dryRun: boolean;
  now: number;
}

export interface Applied {
  name: string;
  action: 'add' | 'change' | 'remove' | 'keep';
  /** Of a change: what differs. */
  fields: string[];
}

const PAGE = 200;

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
    ...wanted.map((schedule) => ({ schedule, ...compared(schedule, present.get(schedule.name)) })),
    ...gone.map((schedule) => ({ schedule, name: schedule.name, action: 'remove' as const, fields: [] })),
  ];
  for (const { schedule, action } of plan) {
    if (action === 'add' || action === 'change') refuseSilent(schedule, now);
    if (action === 'add') await refuseForeign(schedules, schedule.name, signal);
  }
  if (!dryRun) for (const step of plan) await carryOut(schedules, step, signal);
  return plan.map(({ name, action, fields }) => ({ name, action, fields }));
}

async function ownedBy(schedules: Schedules, owner: string, signal: AbortSignal): Promise<Schedule[]> {
  const found: Schedule[] = [];
  let after: string | null = null;
  do {
    const page = await schedules.schedules({ owner }, { after, limit: PAGE }, signal);
    found.push(...page.items);
    after = page.nextAfter;
  } while (after !== null);
  return found;
}

/** With its name: in a list that is what the writer looks for. */
function refuseSilent(schedule: NewSchedule, now: number): void {
  try {
    requireTicks(recurrenceOf(schedule), now);
  } catch (error) {
    if (!isWorkronError(error, 'schedule_invalid')) throw error;
    throw new WorkronError('schedule_invalid', `${schedule.name}: ${error.message}`);
  }
}

async function refuseForeign(schedules: Schedules, name: string, signal: AbortSignal): Promise<void> {
  let other: Schedule;
  try {
    other = await schedules.schedule(name, signal);
  } catch (error) {
    if (isWorkronError(error, 'schedule_not_found')) return;
    throw error;
  }
  throw belongsTo(other);
}

/** Whoever keeps it would change it back. */
export function belongsTo({ name, owner }: Pick<Schedule, 'name' | 'owner'>): WorkronError {
  const whose = owner === null ? 'nobody' : JSON.stringify(owner);
  return new WorkronError(
    'schedule_exists',
    `The schedule ${name} is there already and belongs to ${whose}; change its owner to hand it over, or rename one`,
  );
}

/** What it takes to make the present one the wanted one. */
export function compared(wanted: NewSchedule, present: Schedule | undefined): Applied {
  const { name } = wanted;
  if (present === undefined) return { name, action: 'add', fields: [] };
  const fields = differences(specOf(present), specOf(wanted));
  return { name, action: fields.length === 0 ? 'keep' : 'change', fields };
}

/** As a file would name them. */
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
  };
}

function differences(before: Record<string, unknown>, after: Record<string, unknown>): string[] {
  return Object.keys(after).flatMap((field) => {
    const [old, now] = [before[field], after[field]];
    if (canonical(old) === canonical(now)) return [];
    if (field !== 'job' || !isObject(old) || !isObject(now)) return [field];
    return Object.keys(now)
      .filter((key) => canonical(old[key]) !== canonical(now[key]))
      .map((key) => `job.${snake(key)}`);
  });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** The same text for the same value, whatever the order of its keys; what is not there is `null`. */
function canonical(value: unknown): string {
  return JSON.stringify(value ?? null, (_, each: unknown) =>
    isObject(each) && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );
}

/** `timeoutMs` as a file has it: `timeout`. */
function snake(key: string): string {
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

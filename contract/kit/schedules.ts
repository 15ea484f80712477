/** Builders for schedules. Tick n is n periods after the schedule was created. */

import assert from 'node:assert/strict';
import { DEFAULT_CATCHUP } from '../../src/core/schedule/plan-ticks.ts';
import type { NewSchedule, Schedule, ScheduleChange } from '../../src/core/schedule/schedule.ts';
import type { Tick } from '../../src/core/schedule/tick.ts';
import type { Ticked } from '../../src/store/schedule-store.ts';
import type { Store } from '../../src/store/store.ts';
import { aJob } from './builders.ts';
import { forever } from './steps.ts';

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
/** The period of a schedule if the test gives none. */
export const PERIOD = 10 * MINUTE;

/** The spec of a job that a schedule runs. */
export function aTarget(wanted: Parameters<typeof aJob>[0] = {}): NewSchedule['target'] {
  const { runAt: _at, delayMs: _delay, unique: _unique, dependsOn: _parents, ...job } = aJob(wanted);
  return { job };
}

export function aSchedule(wanted: Partial<NewSchedule> = {}): NewSchedule {
  return {
    name: 'nightly',
    owner: null,
    cron: null,
    everyMs: wanted.cron === undefined || wanted.cron === null ? PERIOD : null,
    anchor: 0,
    timezone: 'UTC',
    overlap: 'skip',
    catchup: DEFAULT_CATCHUP,
    jitterMs: 0,
    startAt: null,
    endAt: null,
    forEach: null,
    target: aTarget(),
    ...wanted,
  };
}

/** Creates a schedule whose ticks are counted from now. */
export async function makeSchedule(store: Store, wanted: Partial<NewSchedule> = {}): Promise<Schedule> {
  const anchor = wanted.anchor ?? (await store.now(forever));
  return await store.createSchedule(aSchedule({ ...wanted, anchor }), forever);
}

/** Judges every due tick and returns the verdicts. Fails the test if a schedule cannot be written. */
export async function tickAll(store: Store): Promise<Ticked['ticks']> {
  const ticks: Ticked['ticks'] = [];
  for (;;) {
    const ticked = await store.tick({ limit: 1_000 }, forever);
    assert.deepEqual(ticked.failed, []);
    ticks.push(...ticked.ticks);
    if (!ticked.more) return ticks;
  }
}

/** Changes a schedule as the scheduler does, step by step. Returns `undefined` if it does not exist. */
export async function changeSchedule(
  store: Store,
  name: string,
  change: ScheduleChange,
  limit = 1_000,
): Promise<Schedule | undefined> {
  for (let at: number | null = null; ; ) {
    const step = await store.changeSchedule(name, { change, at, limit }, forever);
    assert.deepEqual(step?.failed ?? [], []);
    if (step === undefined || step.changed) return step?.schedule;
    at = step.at;
  }
}

export async function ledger(store: Store, name: string): Promise<Tick[]> {
  const rows = await store.ticks(name, {}, { before: null, limit: 10_000 }, forever);
  assert.ok(rows, `no schedule ${name}`);
  return rows.reverse();
}

/** The ledger in short form, oldest first: `missed 2-3`, `ran 4`. */
export async function story(store: Store, { name, anchor, everyMs }: Schedule): Promise<string[]> {
  const number = (at: number) => (at - anchor) / (everyMs ?? 1);
  return (await ledger(store, name)).map((row) => {
    const [first, last] = [number(row.scheduledFor), number(row.through)];
    const range = first === last ? `${first}` : `${first}-${last}`;
    assert.equal(row.count, last - first + 1, 'count is the number of ticks from the first to the last');
    return `${row.verdict} ${range}`;
  });
}

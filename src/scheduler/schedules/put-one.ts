/** One declared schedule: made, changed or left alone, so that it is what a program says each time it starts. */

import { isWorkronError } from '../../core/error.ts';
import type { NewSchedule, Schedule } from '../../core/schedule/schedule.ts';
import { type Applied, belongsTo, compared } from './apply-list.ts';
import type { Schedules } from './schedules.ts';

export interface Put {
  schedule: Schedule;
  action: Exclude<Applied['action'], 'remove'>;
}

/**
 * Any number of processes may say the same at once. One that is paused stays so; where its times stay the same, its ticks
 * do. Throws `schedule_exists` where it has another owner.
 */
export async function putSchedule(schedules: Schedules, wanted: NewSchedule, signal: AbortSignal): Promise<Put> {
  const { name, ...spec } = wanted;
  for (;;) {
    const present = await find(schedules, name, signal);
    try {
      if (present === undefined) return { action: 'add', schedule: await schedules.createSchedule(wanted, signal) };
      if (present.owner !== wanted.owner) throw belongsTo(present);
      if (compared(wanted, present).action === 'keep') return { action: 'keep', schedule: present };
      return { action: 'change', schedule: await schedules.editSchedule(name, spec, signal) };
    } catch (error) {
      // Somebody was quicker: then it is theirs that is looked at.
      const lost = present === undefined ? 'schedule_exists' : 'schedule_not_found';
      if (!isWorkronError(error, lost)) throw error;
    }
  }
}

async function find(schedules: Schedules, name: string, signal: AbortSignal): Promise<Schedule | undefined> {
  try {
    return await schedules.schedule(name, signal);
  } catch (error) {
    if (isWorkronError(error, 'schedule_not_found')) return undefined;
    throw error;
  }
}

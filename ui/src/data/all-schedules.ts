import type { ScheduleDetail } from '../../../src/api/schedule.ts';
import { type All, allPages, PAGE } from './all-pages.ts';
import { client } from './client.ts';

export type AllSchedules = All<ScheduleDetail>;

/** The schedules by name. */
export function allSchedules(signal: AbortSignal): Promise<AllSchedules> {
  return allPages((from) => client.listSchedules({ limit: PAGE, ...from }, { signal }));
}

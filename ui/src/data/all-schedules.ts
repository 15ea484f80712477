import type { ScheduleDetail } from '../../../src/api/schedule.ts';
import { client } from './client.ts';

const PAGE = 200;
const MAX_PAGES = 10;

export interface AllSchedules {
  items: ScheduleDetail[];
  /** True if there are more schedules than these. */
  more: boolean;
}

/** The schedules by name, up to the first 2,000. */
export async function allSchedules(signal: AbortSignal): Promise<AllSchedules> {
  const items: ScheduleDetail[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const { items: some, next_cursor } = await client.schedules(
      { limit: PAGE, ...(cursor === null ? {} : { cursor }) },
      { signal },
    );
    items.push(...some);
    cursor = next_cursor;
    if (cursor === null) break;
  }
  return { items, more: cursor !== null };
}

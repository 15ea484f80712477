import type { Client } from '../api/client.ts';
import type { Schedule } from '../api/schedule.ts';
import type { ScheduleCalls } from './schedule-calls.ts';

const PAGE = 200;

export function httpSchedules(client: Client): ScheduleCalls {
  return {
    put: (name, declaration, signal) => client.putSchedule(name, declaration, { signal }),
    read: (name, signal) => client.schedule(name, { signal }),
    async list(signal) {
      const found: Schedule[] = [];
      let cursor: string | null = null;
      do {
        const query = { limit: PAGE, ...(cursor === null ? {} : { cursor }) };
        const page = await client.schedules(query, { signal });
        found.push(...page.items);
        cursor = page.next_cursor;
      } while (cursor !== null);
      return found;
    },
    async next(name, count, signal) {
      const { items } = await client.nextTicks(name, { count, signal });
      return items.map(({ utc }) => new Date(utc));
    },
    pause: (name, note, signal) => client.pauseSchedule(name, { ...(note === undefined ? {} : { note }), signal }),
    resume: (name, signal) => client.resumeSchedule(name, { signal }),
    async remove(name, signal) {
      await client.deleteSchedule(name, { signal });
    },
    run: (name, keys, signal) => client.runSchedule(name, { ...(keys === undefined ? {} : { keys }), signal }),
    backfill: (name, request, signal) => client.backfillSchedule(name, request, { signal }),
    ticks: async (name, limit, signal) => (await client.ticks(name, { limit }, { signal })).items,
  };
}

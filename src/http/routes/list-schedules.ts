import { ScheduleListQuery, SchedulePage } from '../../api/schedule.ts';
import { fromNameCursor, toNameCursor } from '../cursor.ts';
import { defineRoute } from '../route.ts';
import { scheduleToWire } from '../../api/schedule-wire.ts';

const DEFAULT_LIMIT = 50;

export const listSchedules = defineRoute({
  method: 'GET',
  path: '/schedules',
  scope: 'read',
  summary: 'Schedules that match, by name',
  query: ScheduleListQuery,
  answers: { 200: SchedulePage },
  async handle({ scheduler, query, signal }) {
    const { limit = DEFAULT_LIMIT, cursor, owner, q } = query;
    const after = cursor === undefined ? null : fromNameCursor(cursor);
    const filter = { ...(owner !== undefined && { owner }), ...(q !== undefined && { text: q }) };
    const { items, nextAfter } = await scheduler.schedules(filter, { after, limit }, signal);
    const next_cursor = nextAfter === null ? null : toNameCursor(nextAfter);
    return { status: 200, json: { items: items.map(scheduleToWire), next_cursor } };
  },
});

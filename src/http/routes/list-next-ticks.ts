import { toInstant } from '../../api/fields.ts';
import { NextTicks, NextTicksQuery } from '../../api/tick.ts';
import { wallTimeOf } from '../../core/schedule/clock-note.ts';
import { zoneOf } from '../../core/schedule/zone.ts';
import { pathName } from '../path-id.ts';
import { defineRoute } from '../route.ts';

const DEFAULT_COUNT = 10;

export const listNextTicks = defineRoute({
  method: 'GET',
  path: '/schedules/:name/next',
  scope: 'read',
  summary: 'The next ticks, in the zone of the schedule and in UTC',
  query: NextTicksQuery,
  answers: { 200: NextTicks },
  async handle({ scheduler, params, query, signal }) {
    const { timezone, ticks } = await scheduler.nextTicks(pathName(params), query.count ?? DEFAULT_COUNT, signal);
    const zone = zoneOf(timezone);
    const items = ticks.map((tick) => {
      const { text, note } = wallTimeOf(zone, tick);
      return { utc: toInstant(tick), local: text, note };
    });
    return { status: 200, json: { timezone, items } };
  },
});

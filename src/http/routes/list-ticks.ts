import { TickListQuery, TickPage, tickToWire } from '../../api/tick.ts';
import { fromCursor, toCursor } from '../cursor.ts';
import { pathName } from '../path-id.ts';
import { defineRoute } from '../route.ts';

const DEFAULT_LIMIT = 50;

export const listTicks = defineRoute({
  method: 'GET',
  path: '/schedules/:name/ticks',
  scope: 'read',
  summary: 'The ledger of a schedule, newest first: every tick, and what became of it',
  query: TickListQuery,
  answers: { 200: TickPage },
  async handle({ scheduler, params, query, signal }) {
    const { limit = DEFAULT_LIMIT, cursor, ...filter } = query;
    const before = cursor === undefined ? null : fromCursor(cursor);
    const { items, nextBefore } = await scheduler.ticks(pathName(params), filter, { before, limit }, signal);
    const next_cursor = nextBefore === null ? null : toCursor(nextBefore);
    return { status: 200, json: { items: items.map(tickToWire), next_cursor } };
  },
});

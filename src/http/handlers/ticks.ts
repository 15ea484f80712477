/** Ticks of schedules: run, backfill, list, preview. */

import { describeCron } from '../../api/describe-schedule.ts';
import { toInstant } from '../../api/fields.ts';
import { routes } from '../../api/routes.ts';
import { BackfillRequest, ScheduleRunRequest } from '../../api/schedule.ts';
import { SchedulePreview, SchedulePreviewRequest } from '../../api/schedule-preview.ts';
import {
  Backfill,
  backfillToWire,
  ledgerToWire,
  NextTicks,
  NextTicksQuery,
  ScheduleRuns,
  TickListQuery,
  TickPage,
  tickToWire,
} from '../../api/tick.ts';
import { type ClockNote, type WallTime, wallTimeOf } from '../../core/schedule/clock-note.ts';
import { parseCron } from '../../core/schedule/cron.ts';
import { parseEvery } from '../../core/schedule/every.ts';
import { oldestTicks, type Recurrence, requireTicks } from '../../core/schedule/recurrence.ts';
import { zoneOf } from '../../core/schedule/zone.ts';
import { authorizeSchedule } from '../authorize.ts';
import { beforeFrom, DEFAULT_PAGE_SIZE, toCursor } from '../cursor.ts';
import { handler } from '../handler.ts';
import { idempotencyOf, replayHeader } from '../idempotency.ts';
import { scheduleNameIn } from '../path-id.ts';

const DEFAULT_COUNT = 10;

const NOTES: Readonly<Record<ClockNote, string>> = {
  after_gap: 'the clock has just gone forward',
  first_of_two: 'the clock shows this twice: the first time',
  second_of_two: 'the clock shows this twice: the second time',
};

export const tickHandlers = {
  runSchedule: handler(routes.runSchedule, {
    summary: 'Run a schedule now, paused or not; its overlap policy decides about runs that have not ended',
    body: ScheduleRunRequest.optional(),
    replies: { 201: ScheduleRuns },
    async handle(call) {
      const name = scheduleNameIn(call.params);
      await authorizeSchedule(call, name);
      const keys = call.body?.keys ?? null;
      const { ticks, replayed } = await call.scheduler.runSchedule(name, { keys }, idempotencyOf(call), call.signal);
      return { status: 201, json: { items: ticks.map(tickToWire) }, headers: replayHeader(replayed) };
    },
  }),

  backfillSchedule: handler(routes.backfillSchedule, {
    summary: 'Run past ticks that have no run (201), or only list them (200)',
    body: BackfillRequest,
    replies: { 200: Backfill, 201: Backfill },
    async handle(call) {
      const name = scheduleNameIn(call.params);
      await authorizeSchedule(call, name);
      const { from, to, keys = null, dry_run: dryRun = false } = call.body;
      const request = { from, to, keys, dryRun };
      const options = idempotencyOf(call);
      const { replayed, ...backfilled } = await call.scheduler.backfillSchedule(name, request, options, call.signal);
      const json = backfillToWire(dryRun, backfilled);
      return { status: dryRun ? 200 : 201, json, headers: replayHeader(replayed) };
    },
  }),

  listNextTicks: handler(routes.listNextTicks, {
    summary: 'List the next ticks, in the zone of the schedule and in UTC',
    query: NextTicksQuery,
    replies: { 200: NextTicks },
    async handle({ scheduler, params, query, signal }) {
      const { count = DEFAULT_COUNT } = query;
      const { timezone, ticks, delayMs } = await scheduler.nextTicks(scheduleNameIn(params), count, signal);
      const zone = zoneOf(timezone);
      const items = ticks.map((tick) => {
        const { text, note } = wallTimeOf(zone, tick);
        return {
          utc: toInstant(tick),
          local: text,
          note,
          starts_at: delayMs === null ? null : toInstant(tick + delayMs),
        };
      });
      return { status: 200, json: { timezone, items } };
    },
  }),

  listTicks: handler(routes.listTicks, {
    summary: 'List the ledger of a schedule, newest first: every tick with its verdict and how its run went',
    query: TickListQuery,
    replies: { 200: TickPage },
    async handle({ scheduler, params, query, signal }) {
      const { limit = DEFAULT_PAGE_SIZE, cursor, ...filter } = query;
      const page = { before: beforeFrom(cursor), limit };
      const { items, nextBefore } = await scheduler.ticks(scheduleNameIn(params), filter, page, signal);
      return { status: 200, json: { items: items.map(ledgerToWire), next_cursor: toCursor(nextBefore) } };
    },
  }),

  previewSchedule: handler(routes.previewSchedule, {
    summary: 'Explain an expression in words and list its next ticks; nothing is stored',
    body: SchedulePreviewRequest,
    replies: { 200: SchedulePreview },
    handle({ body, now }) {
      const { cron, every = 0, anchor, timezone = 'UTC', count = DEFAULT_COUNT } = body;
      const from = body.from ?? now();
      const recurrence = cron === undefined ? parseEvery(every, anchor) : parseCron(cron, timezone);
      requireTicks(recurrence, from - 1);
      const description = cron === undefined ? null : describeCron(cron);
      const items = previewTicks(recurrence, { timezone, from, count });
      return { status: 200, json: { description, timezone, items } };
    },
  }),
};

/** The first `count` ticks from an instant on, as the clock of the zone shows them, with a note where the clock changes. */
function previewTicks(
  recurrence: Recurrence,
  { timezone, from, count }: { timezone: string; from: number; count: number },
): SchedulePreview['items'] {
  const zone = zoneOf(timezone);
  let before = wallTimeOf(zone, from);
  return oldestTicks(recurrence, from - 1, Number.POSITIVE_INFINITY, count).map((tick) => {
    const wall = wallTimeOf(zone, tick);
    const note = wall.note === null ? changeSince(before, wall) : NOTES[wall.note];
    before = wall;
    return { utc: toInstant(tick), local: wall.text, note };
  });
}

function changeSince(before: WallTime, now: WallTime): string | null {
  const [offset, previous] = [now.text.slice(19), before.text.slice(19)];
  return offset === previous ? null : `the clock has changed from ${previous} to ${offset}`;
}

import { decode } from '../api/decode.ts';
import {
  BackfillRequest,
  PauseRequest,
  type Schedule,
  ScheduleDeclaration,
  ScheduleRunRequest,
  scheduleName,
} from '../api/schedule.ts';
import { newScheduleFrom, scheduleToWire } from '../api/schedule-wire.ts';
import { backfillToWire, ledgerToWire, NextTicksQuery, TickListQuery, tickToWire } from '../api/tick.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import { putSchedule } from '../scheduler/schedules/declared-schedules.ts';
import type { ScheduleCalls } from './schedule-calls.ts';

const PAGE = 1_000;

/** Calls to a scheduler in this process. Input is checked by the schemas of the API, so both refuse the same. */
export function schedulerSchedules(scheduler: Scheduler): ScheduleCalls {
  return {
    async put(name, declaration, signal) {
      const wire = { ...decode(ScheduleDeclaration, declaration), name: decode(scheduleName, name) };
      return scheduleToWire((await putSchedule(scheduler, newScheduleFrom(wire), signal)).schedule);
    },
    read: async (name, signal) => scheduleToWire(await scheduler.schedule(name, signal)),
    async list(signal) {
      const found: Schedule[] = [];
      let after: string | null = null;
      do {
        const page = await scheduler.schedules({}, { after, limit: PAGE }, signal);
        found.push(...page.items.map(scheduleToWire));
        after = page.nextAfter;
      } while (after !== null);
      return found;
    },
    async next(name, count, signal) {
      decode(NextTicksQuery, { count: String(count) });
      return (await scheduler.nextTicks(name, count, signal)).ticks.map((tick) => new Date(tick));
    },
    async pause(name, note, signal) {
      const given = decode(PauseRequest, note === undefined ? {} : { note });
      return scheduleToWire(await scheduler.pauseSchedule(name, given.note ?? null, signal));
    },
    resume: async (name, signal) => scheduleToWire(await scheduler.resumeSchedule(name, signal)),
    remove: (name, signal) => scheduler.deleteSchedule(name, signal),
    async run(name, keys, signal) {
      const given = decode(ScheduleRunRequest, keys === undefined ? {} : { keys });
      const { ticks } = await scheduler.runSchedule(name, { keys: given.keys ?? null }, {}, signal);
      return ticks.map(tickToWire);
    },
    async backfill(name, request, signal) {
      const { from, to, keys = null, dry_run: dryRun = false } = decode(BackfillRequest, request);
      return backfillToWire(dryRun, await scheduler.backfillSchedule(name, { from, to, keys, dryRun }, {}, signal));
    },
    async ticks(name, limit, signal) {
      decode(TickListQuery, { limit: String(limit) });
      return (await scheduler.ticks(name, {}, { before: null, limit }, signal)).items.map(ledgerToWire);
    },
  };
}

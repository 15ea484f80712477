/** Schedules: create, list, read, change, apply, delete. */

import { decode } from '../../api/decode.ts';
import { MAX_ARRAY_BYTES } from '../../api/job-submission.ts';
import { pathOf } from '../../api/route.ts';
import { routes } from '../../api/routes.ts';
import {
  PauseRequest,
  Schedule,
  ScheduleDeclaration,
  ScheduleDetail,
  ScheduleEdit,
  ScheduleListQuery,
  SchedulePage,
  ScheduleSubmission,
  scheduleName,
} from '../../api/schedule.ts';
import { ScheduleApplied, ScheduleApply } from '../../api/schedule-apply.ts';
import { newScheduleFrom, scheduleDetailToWire, scheduleEditFrom, scheduleToWire } from '../../api/schedule-wire.ts';
import { nothing } from '../../api/schemas.ts';
import type { NewSchedule } from '../../core/schedule/schedule.ts';
import { applySchedules, putSchedule } from '../../scheduler/schedules/declared-schedules.ts';
import { authorizeEdit, authorizeSchedule, authorizeTarget } from '../authorize.ts';
import { afterFrom, DEFAULT_PAGE_SIZE, toNameCursor } from '../cursor.ts';
import { handler } from '../handler.ts';
import { scheduleNameIn } from '../path-id.ts';
import { madeFromDefinition, withLatestDefinition } from './definitions.ts';

export const scheduleHandlers = {
  createSchedule: handler(routes.createSchedule, {
    summary: 'Create a schedule: its ticks count from now',
    body: ScheduleSubmission,
    bodyLimit: MAX_ARRAY_BYTES,
    replies: { 201: Schedule },
    async handle({ scheduler, principal, body, signal }) {
      const schedule = await withLatestDefinition(async () => {
        const wanted = newScheduleFrom(body, '', await madeFromDefinition(scheduler, body, signal));
        authorizeTarget(principal, wanted.target, wanted.notify);
        return await scheduler.createSchedule(wanted, signal);
      });
      const headers = { location: pathOf(routes.readSchedule, schedule) };
      return { status: 201, json: scheduleToWire(schedule), headers };
    },
  }),

  listSchedules: handler(routes.listSchedules, {
    summary: 'List schedules that match, by name',
    query: ScheduleListQuery,
    replies: { 200: SchedulePage },
    async handle({ scheduler, query, signal }) {
      const { limit = DEFAULT_PAGE_SIZE, cursor, owner, q } = query;
      const filter = { ...(owner !== undefined && { owner }), ...(q !== undefined && { text: q }) };
      const { items, nextAfter } = await scheduler.schedules(filter, { after: afterFrom(cursor), limit }, signal);
      const details = await scheduler.scheduleDetails(items, signal);
      return { status: 200, json: { items: details.map(scheduleDetailToWire), next_cursor: toNameCursor(nextAfter) } };
    },
  }),

  applySchedules: handler(routes.applySchedules, {
    summary: "Make an owner's schedules equal to a list, or only report what would change",
    body: ScheduleApply,
    bodyLimit: MAX_ARRAY_BYTES,
    replies: { 200: ScheduleApplied },
    async handle({ scheduler, body, now, signal }) {
      const { owner, dry_run: dryRun = false } = body;
      const items = await withLatestDefinition(async () => {
        const schedules: NewSchedule[] = [];
        for (const [place, wire] of body.schedules.entries()) {
          schedules.push(
            newScheduleFrom(wire, `/schedules/${place}`, await madeFromDefinition(scheduler, wire, signal)),
          );
        }
        return await applySchedules(scheduler, { owner, schedules, dryRun, now: now() }, signal);
      });
      return { status: 200, json: { owner, dry_run: dryRun, items } };
    },
  }),

  readSchedule: handler(routes.readSchedule, {
    summary: 'Read one schedule',
    replies: { 200: ScheduleDetail },
    async handle({ scheduler, params, signal }) {
      const schedule = await scheduler.schedule(scheduleNameIn(params), signal);
      const [detail] = (await scheduler.scheduleDetails([schedule], signal)).map(scheduleDetailToWire);
      return { status: 200, json: detail as ScheduleDetail };
    },
  }),

  putSchedule: handler(routes.putSchedule, {
    summary: 'Create (201) or replace (200) a schedule; one that is equal already is left alone',
    body: ScheduleDeclaration,
    bodyLimit: MAX_ARRAY_BYTES,
    replies: { 200: Schedule, 201: Schedule },
    async handle(call) {
      const { scheduler, principal, params, body, signal } = call;
      const name = decode(scheduleName, params['name']);
      await authorizeSchedule(call, name);
      const { schedule, action } = await withLatestDefinition(async () => {
        const wanted = newScheduleFrom({ ...body, name }, '', await madeFromDefinition(scheduler, body, signal));
        authorizeTarget(principal, wanted.target, wanted.notify);
        return await putSchedule(scheduler, wanted, signal);
      });
      const json = scheduleToWire(schedule);
      if (action !== 'add') return { status: 200, json };
      return { status: 201, json, headers: { location: pathOf(routes.readSchedule, schedule) } };
    },
  }),

  editSchedule: handler(routes.editSchedule, {
    summary: 'Change a schedule: new times count from now; ticks that were due earlier are judged by the old times',
    body: ScheduleEdit,
    bodyLimit: MAX_ARRAY_BYTES,
    replies: { 200: Schedule },
    async handle(call) {
      const { scheduler, principal, params, body, signal } = call;
      const name = scheduleNameIn(params);
      await authorizeSchedule(call, name);
      const schedule = await withLatestDefinition(async () => {
        const edit = scheduleEditFrom(body, await madeFromDefinition(scheduler, body, signal));
        authorizeEdit(principal, edit);
        return await scheduler.editSchedule(name, edit, signal);
      });
      return { status: 200, json: scheduleToWire(schedule) };
    },
  }),

  deleteSchedule: handler(routes.deleteSchedule, {
    summary: 'Delete a schedule and return it as it was; its runs continue',
    replies: { 200: Schedule },
    async handle({ scheduler, params, signal }) {
      const name = scheduleNameIn(params);
      const schedule = await scheduler.schedule(name, signal);
      await scheduler.deleteSchedule(name, signal);
      return { status: 200, json: scheduleToWire(schedule) };
    },
  }),

  pauseSchedule: handler(routes.pauseSchedule, {
    summary: 'Pause a schedule; its ticks are recorded as paused and are not caught up',
    body: PauseRequest.optional(),
    replies: { 200: Schedule },
    async handle({ scheduler, params, body, signal }) {
      const schedule = await scheduler.pauseSchedule(scheduleNameIn(params), body?.note ?? null, signal);
      return { status: 200, json: scheduleToWire(schedule) };
    },
  }),

  resumeSchedule: handler(routes.resumeSchedule, {
    summary: 'Resume a paused schedule, from now',
    body: nothing.optional(),
    replies: { 200: Schedule },
    async handle({ scheduler, params, signal }) {
      return { status: 200, json: scheduleToWire(await scheduler.resumeSchedule(scheduleNameIn(params), signal)) };
    },
  }),
};

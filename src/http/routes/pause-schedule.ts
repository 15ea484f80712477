import { PauseRequest, Schedule } from '../../api/schedule.ts';
import { pathName } from '../path-id.ts';
import { defineRoute } from '../route.ts';
import { scheduleToWire } from '../../api/schedule-wire.ts';

export const pauseSchedule = defineRoute({
  method: 'POST',
  path: '/schedules/:name/pause',
  scope: 'operate',
  summary: 'Run nothing more until it is resumed; its ticks are kept as paused, and are not caught up',
  body: PauseRequest,
  bodyOptional: true,
  answers: { 200: Schedule },
  async handle({ scheduler, params, body, signal }) {
    const note = (body as { note?: string } | undefined)?.note ?? null;
    return { status: 200, json: scheduleToWire(await scheduler.pauseSchedule(pathName(params), note, signal)) };
  },
});

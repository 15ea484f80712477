import { Schedule } from '../../api/schedule.ts';
import { strict } from '../../api/schemas.ts';
import { pathName } from '../path-id.ts';
import { defineRoute } from '../route.ts';
import { scheduleToWire } from '../../api/schedule-wire.ts';

export const resumeSchedule = defineRoute({
  method: 'POST',
  path: '/schedules/:name/resume',
  scope: 'operate',
  summary: 'Let a paused schedule go on, from now',
  body: strict({}),
  bodyOptional: true,
  answers: { 200: Schedule },
  async handle({ scheduler, params, signal }) {
    return { status: 200, json: scheduleToWire(await scheduler.resumeSchedule(pathName(params), signal)) };
  },
});

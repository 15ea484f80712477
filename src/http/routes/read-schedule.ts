import { Schedule } from '../../api/schedule.ts';
import { pathName } from '../path-id.ts';
import { defineRoute } from '../route.ts';
import { scheduleToWire } from '../../api/schedule-wire.ts';

export const readSchedule = defineRoute({
  method: 'GET',
  path: '/schedules/:name',
  scope: 'read',
  summary: 'One schedule',
  answers: { 200: Schedule },
  async handle({ scheduler, params, signal }) {
    return { status: 200, json: scheduleToWire(await scheduler.schedule(pathName(params), signal)) };
  },
});

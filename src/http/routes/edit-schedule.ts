import { MAX_ARRAY_BYTES } from '../../api/job-submission.ts';
import { Schedule, ScheduleEdit } from '../../api/schedule.ts';
import { pathName } from '../path-id.ts';
import { defineRoute } from '../route.ts';
import { scheduleEditFrom, scheduleToWire } from '../../api/schedule-wire.ts';

export const editSchedule = defineRoute({
  method: 'PATCH',
  path: '/schedules/:name',
  scope: 'submit',
  summary: 'Change a schedule: new times count from now, ticks that were due before are judged by the old ones',
  body: ScheduleEdit,
  bodyLimit: MAX_ARRAY_BYTES,
  answers: { 200: Schedule },
  async handle({ scheduler, params, body, signal }) {
    const schedule = await scheduler.editSchedule(pathName(params), scheduleEditFrom(body), signal);
    return { status: 200, json: scheduleToWire(schedule) };
  },
});

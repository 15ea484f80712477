import { MAX_ARRAY_BYTES } from '../../api/job-submission.ts';
import { Schedule, ScheduleSubmission } from '../../api/schedule.ts';
import { defineRoute } from '../route.ts';
import { newScheduleFrom, scheduleToWire } from '../../api/schedule-wire.ts';

export const createSchedule = defineRoute({
  method: 'POST',
  path: '/schedules',
  scope: 'submit',
  summary: 'Make a schedule: its ticks count from now',
  body: ScheduleSubmission,
  bodyLimit: MAX_ARRAY_BYTES,
  answers: { 201: Schedule },
  async handle({ scheduler, body, signal }) {
    const schedule = await scheduler.createSchedule(newScheduleFrom(body), signal);
    const headers = { location: `/schedules/${schedule.name}` };
    return { status: 201, json: scheduleToWire(schedule), headers };
  },
});

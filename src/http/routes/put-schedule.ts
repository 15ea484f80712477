import { decode } from '../../api/decode.ts';
import { MAX_ARRAY_BYTES } from '../../api/job-submission.ts';
import { Schedule, ScheduleDeclaration, scheduleName } from '../../api/schedule.ts';
import { putSchedule as put } from '../../scheduler/put-schedule.ts';
import { defineRoute } from '../route.ts';
import { newScheduleFrom, scheduleToWire } from '../../api/schedule-wire.ts';

export const putSchedule = defineRoute({
  method: 'PUT',
  path: '/schedules/:name',
  scope: 'submit',
  summary: 'Make a schedule what is said here (201), or what is there so (200); one that is so already is left alone',
  body: ScheduleDeclaration,
  bodyLimit: MAX_ARRAY_BYTES,
  answers: { 200: Schedule, 201: Schedule },
  async handle({ scheduler, params, body, signal }) {
    const name = decode(scheduleName, params['name']);
    const { schedule, action } = await put(scheduler, newScheduleFrom({ ...body, name }), signal);
    const headers = action === 'add' ? { location: `/schedules/${schedule.name}` } : {};
    return { status: action === 'add' ? 201 : 200, json: scheduleToWire(schedule), headers };
  },
});

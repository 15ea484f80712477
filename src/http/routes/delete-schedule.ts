import { Schedule } from '../../api/schedule.ts';
import { pathName } from '../path-id.ts';
import { defineRoute } from '../route.ts';
import { scheduleToWire } from '../../api/schedule-wire.ts';

export const deleteSchedule = defineRoute({
  method: 'DELETE',
  path: '/schedules/:name',
  scope: 'operate',
  summary: 'Delete a schedule and answer with what it was; its runs go on',
  answers: { 200: Schedule },
  async handle({ scheduler, params, signal }) {
    const name = pathName(params);
    const schedule = await scheduler.schedule(name, signal);
    await scheduler.deleteSchedule(name, signal);
    return { status: 200, json: scheduleToWire(schedule) };
  },
});

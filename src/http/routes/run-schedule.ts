import { ScheduleRunRequest } from '../../api/schedule.ts';
import { ScheduleRuns, tickToWire } from '../../api/tick.ts';
import { pathName } from '../path-id.ts';
import { defineRoute } from '../route.ts';
import { idempotencyOf, replayHeader } from '../submission.ts';

export const runSchedule = defineRoute({
  method: 'POST',
  path: '/schedules/:name/run',
  scope: 'submit',
  summary: 'Run what a schedule runs now, paused or not; runs that have not ended are judged by its overlap policy',
  body: ScheduleRunRequest,
  bodyOptional: true,
  answers: { 201: ScheduleRuns },
  async handle(call) {
    const name = pathName(call.params);
    const keys = (call.body as { keys?: string[] } | undefined)?.keys ?? null;
    const options = idempotencyOf(call, `/schedules/${name}/run`);
    const { ticks, replayed } = await call.scheduler.runSchedule(name, { keys }, options, call.signal);
    return { status: 201, json: { items: ticks.map(tickToWire) }, headers: replayHeader(replayed) };
  },
});

import { MAX_ARRAY_BYTES } from '../../api/job-submission.ts';
import { ScheduleApplied, ScheduleApply } from '../../api/schedule-apply.ts';
import { applySchedules as apply } from '../../scheduler/apply-schedules.ts';
import { defineRoute } from '../route.ts';
import { newScheduleFrom } from '../../api/schedule-wire.ts';

export const applySchedules = defineRoute({
  method: 'POST',
  path: '/schedules/apply',
  scope: 'operate',
  summary: "Make an owner's schedules what the list says, or only tell what would change",
  body: ScheduleApply,
  bodyLimit: MAX_ARRAY_BYTES,
  answers: { 200: ScheduleApplied },
  async handle({ scheduler, body, now, signal }) {
    const { owner, dry_run: dryRun = false } = body;
    const schedules = body.schedules.map((wire, place) => newScheduleFrom(wire, `/schedules/${place}`));
    const items = await apply(scheduler, { owner, schedules, dryRun, now: now() }, signal);
    return { status: 200, json: { owner, dry_run: dryRun, items } };
  },
});

import { BackfillRequest } from '../../api/schedule.ts';
import { Backfill, backfillToWire } from '../../api/tick.ts';
import { pathName } from '../path-id.ts';
import { defineRoute } from '../route.ts';
import { idempotencyOf, replayHeader } from '../submission.ts';

export const backfillSchedule = defineRoute({
  method: 'POST',
  path: '/schedules/:name/backfill',
  scope: 'submit',
  summary: 'Make up for past ticks that have no run (201), or only tell which those are (200)',
  body: BackfillRequest,
  answers: { 200: Backfill, 201: Backfill },
  async handle(call) {
    const name = pathName(call.params);
    const { from, to, keys = null, dry_run: dryRun = false } = call.body;
    const options = idempotencyOf(call, `/schedules/${name}/backfill`);
    const request = { from, to, keys, dryRun };
    const { replayed, ...backfilled } = await call.scheduler.backfillSchedule(name, request, options, call.signal);
    const json = backfillToWire(dryRun, backfilled);
    return { status: dryRun ? 200 : 201, json, headers: replayHeader(replayed) };
  },
});

/**
 * Changes a schedule: first every tick that is due gets its verdict by what the schedule is, in transactions of bounded
 * size. Whoever dies between them has judged some ticks, as the ticker would have, and has changed nothing.
 */

import type { Schedule, ScheduleChange } from '../../core/schedule/schedule.ts';
import type { SchedulerContext } from '../context.ts';
import { withInstallation } from '../notify/targets.ts';
import { AdaptiveBatch, BATCH } from './adaptive-batch.ts';
import { reportTicks } from './report-ticks.ts';

/** `undefined`: no such schedule. */
export async function changeSchedule(
  context: SchedulerContext,
  name: string,
  change: ScheduleChange,
  signal: AbortSignal,
): Promise<Schedule | undefined> {
  const notify = withInstallation([], context.notify);
  const pieces = new AdaptiveBatch(context.store);
  let at: number | null = null;
  for (;;) {
    const asked = at;
    const step = await pieces.attempt(async (lines) => {
      const answer = await context.store.changeSchedule(
        name,
        { change, at: asked, limit: BATCH, lines, notify },
        signal,
      );
      return answer ?? 'none';
    }, signal);
    if (step === 'none') return undefined;
    if (step === undefined) continue;
    reportTicks(context, step);
    if (step.changed) return step.schedule;
    at = step.at;
  }
}

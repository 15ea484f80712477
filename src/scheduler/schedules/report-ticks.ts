/** Counts and logs what became of ticks that were due. */

import type { Judged } from '../../store/schedule-store.ts';
import type { SchedulerContext } from '../context.ts';

export function reportTicks(
  { telemetry, log }: SchedulerContext,
  { ticks, counts, started, now, failed }: Judged,
): void {
  telemetry.ticked(ticks, counts);
  telemetry.started(started, now);
  for (const { schedule, error, retryInMs } of failed) {
    if (retryInMs === null) log.error({ schedule, error }, 'a due schedule could not run before it was changed');
    else log.error({ schedule, error, again_in_ms: retryInMs }, 'a due schedule could not be judged; others go on');
  }
}

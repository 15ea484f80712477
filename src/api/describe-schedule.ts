import { formatDuration } from '../core/duration.ts';
import { describeCron } from './describe-cron.ts';

/** When a schedule is due, in words: `At 02:00`, `Every 15m`; `null` where there are none. */
export function describeSchedule({ cron, everyMs }: { cron: string | null; everyMs: number | null }): string | null {
  if (everyMs !== null) return `Every ${formatDuration(everyMs)}`;
  return cron === null ? null : describeCron(cron);
}

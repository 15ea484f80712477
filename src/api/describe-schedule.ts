/** Describes when a schedule is due, in words. */

import cronstrue from 'cronstrue';
import { formatDuration } from '../core/duration.ts';
import { expressionsIn, splitCron } from '../core/schedule/cron.ts';
import { isOpen } from '../core/schedule/cron-field.ts';

/** Returns `At 02:00` or `Every 15m`, for instance; `null` if there are no words for it. */
export function describeSchedule({ cron, everyMs }: { cron: string | null; everyMs: number | null }): string | null {
  if (everyMs !== null) return `Every ${formatDuration(everyMs)}`;
  return cron === null ? null : describeCron(cron);
}

/** Describes valid expressions, such as `At 02:00, Monday through Friday`; `null` if there are no words for one of them. */
export function describeCron(expressions: string): string | null {
  const words = expressionsIn(expressions).map(describeOne);
  return words.includes(null) ? null : words.join('; ');
}

function describeOne(expression: string): string | null {
  const { second, minute, hour, monthDay, month, weekDay } = splitCron(expression.toUpperCase());
  const text = [second, minute, hour, monthDay, month, weekDay.replaceAll('#L', 'L')].join(' ');
  const either = isOpen(monthDay) || isOpen(weekDay) ? '' : ' (days that match either)';
  try {
    return `${cronstrue.toString(text, { use24HourTimeFormat: true })}${either}`;
  } catch {
    return null;
  }
}

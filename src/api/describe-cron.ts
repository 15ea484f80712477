/** Cron expressions in words, by cronstrue. */

import cronstrue from 'cronstrue';
import { splitCron } from '../core/schedule/cron.ts';
import { isOpen } from '../core/schedule/cron-field.ts';

/** One phrase for a valid expression, such as `At 02:00, Monday through Friday`; `null` where there are no words for it. */
export function describeCron(expression: string): string | null {
  const { second, minute, hour, monthDay, month, weekDay } = splitCron(expression.toUpperCase());
  const text = [second, minute, hour, monthDay, month, weekDay.replaceAll('#L', 'L')].join(' ');
  const either = isOpen(monthDay) || isOpen(weekDay) ? '' : ' (a day that either of the two names)';
  try {
    return `${cronstrue.toString(text, { use24HourTimeFormat: true })}${either}`;
  } catch {
    return null;
  }
}

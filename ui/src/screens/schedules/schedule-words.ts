/** A schedule in words. */

import type { Schedule } from '../../../../src/api/schedule.ts';
import { exactDuration } from '../../words/duration.ts';
import { visibleLine } from '../../words/visible-text.ts';

/** When it is due, in words where there are some. */
export function whenText({ description, cron, every }: Schedule): string {
  return description ?? cron ?? `every ${exactDuration(every ?? 0)}`;
}

export function whatItRuns({ job, workflow }: Schedule): string {
  return visibleLine(
    workflow === null ? (job?.name ?? job?.command ?? job?.handler ?? '') : `workflow ${workflow.name}`,
  );
}

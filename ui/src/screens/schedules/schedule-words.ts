/** Descriptions of a schedule for people. */

import type { Schedule } from '../../../../src/api/schedule.ts';
import { exactDuration } from '../../words/duration.ts';
import { visibleLine } from '../../words/visible-text.ts';

/** The timing in words, or the expression if there are none. */
export function whenText({ description, cron, every }: Schedule): string {
  return description ?? cron ?? `Every ${exactDuration(every ?? 0)}`;
}

/** The command or handler, or the name of the workflow. */
export function whatItRuns({ job, workflow }: Schedule): string {
  return visibleLine(workflow === null ? (job?.command ?? job?.handler ?? '') : `workflow ${workflow.name}`);
}

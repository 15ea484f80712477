/** What the form of a schedule says, as the API takes it. */

import type { Schedule, ScheduleEditInput, ScheduleSubmissionInput } from '../../../../src/api/schedule.ts';
import { submissionOf } from '../../words/submission-of.ts';

export interface Fields {
  kind: 'cron' | 'every';
  text: string;
  timezone: string;
  overlap: Schedule['overlap'];
  catchup: Schedule['catchup']['policy'];
  command: string;
  queue: string;
}

export function submissionFrom(name: string, fields: Fields): ScheduleSubmissionInput {
  const { timezone, overlap, catchup, command, queue } = fields;
  const job = { command, ...(queue === '' ? {} : { queue }) };
  return { name, ...whenOf(fields), timezone, overlap, catchup: { policy: catchup }, job };
}

/** Changes what the form shows, and nothing else of the schedule or its job. */
export function editFrom(existing: Schedule, fields: Fields): ScheduleEditInput {
  const { timezone, overlap, catchup, command, queue } = fields;
  return {
    ...whenOf(fields),
    timezone,
    overlap,
    catchup: { ...existing.catchup, policy: catchup },
    ...(existing.job !== null &&
    mayEditJob(existing) &&
    (command !== existing.job.command || queue !== existing.job.queue)
      ? { job: { ...submissionOf(existing.job), backoff: existing.job.backoff, command, queue: queue || 'default' } }
      : {}),
  };
}

/** A job is replaced as a whole, which would lose what cannot be read back: its environment, and where it notifies. */
export function mayEditJob({ job, notify }: Schedule): boolean {
  return job !== null && job.command !== null && job.env.length === 0 && notify.length === 0;
}

function whenOf({ kind, text }: Fields) {
  return kind === 'cron' ? { cron: text } : { every: text };
}

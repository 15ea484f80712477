/** Changes the job that a schedule runs. Decides; does not write. */

import { WorkronError } from '../error.ts';
import { DEFAULT_SPEC, type JobSpec } from '../job.ts';
import type { EnvValue } from '../secret.ts';
import type { ScheduledJobEdit, Target } from './schedule.ts';

/**
 * Returns the target with a changed job: what is not given stays. A command replaces a handler with its input, and the
 * other way round; a job that replaces a workflow starts from the defaults.
 */
export function editJob(before: Target, edit: ScheduledJobEdit): Target {
  const { env, ...fields } = edit;
  const base = 'job' in before ? before.job : DEFAULT_SPEC;
  const job: JobSpec = { ...base, ...fields, env: editEnv(base.env, env) };
  if (edit.command != null) Object.assign(job, { handler: null, input: null });
  if (edit.handler != null) Object.assign(job, { command: null });
  if (job.command === null && job.handler === null) {
    throw new WorkronError('schedule_invalid', 'job: expected a command or a handler, as the schedule runs a workflow');
  }
  if (job.command !== null && edit.input != null) {
    throw new WorkronError('schedule_invalid', 'job.input: input goes to a handler; a command gets its values by env');
  }
  return { job };
}

function editEnv(before: JobSpec['env'], edit: ScheduledJobEdit['env']): JobSpec['env'] {
  if (edit === undefined) return before;
  if (edit === null) return {};
  const changed = Object.entries({ ...before, ...edit });
  return Object.fromEntries(changed.filter((entry): entry is [string, EnvValue] => entry[1] !== null));
}

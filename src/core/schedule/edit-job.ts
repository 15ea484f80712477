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
  const base = baseOf(before, edit);
  checkSealing(base, edit);
  const job: JobSpec = { ...base, ...fields, env: editEnv(base.env, env) };
  if (edit.input !== undefined) job.sealedInput = edit.sealedInput ?? null;
  if (edit.handler != null) Object.assign(job, { command: null });
  if (job.command === null && job.handler === null) {
    throw new WorkronError('schedule_invalid', 'job: expected a command or a handler, as the schedule runs a workflow');
  }
  if (job.command !== null && (edit.input ?? edit.sealedInput) != null) {
    throw new WorkronError('schedule_invalid', 'job.input: input goes to a handler; a command gets its values by env');
  }
  return { job };
}

function baseOf(before: Target, { command }: ScheduledJobEdit): JobSpec {
  const job = 'job' in before ? before.job : DEFAULT_SPEC;
  return command == null ? job : { ...job, handler: null, input: null, sealInput: false, sealedInput: null };
}

/** An input can be sealed only by who submits the edit: here it is too late. */
function checkSealing(base: JobSpec, { input, sealInput }: ScheduledJobEdit): void {
  if (input === undefined && sealInput !== undefined) {
    throw new WorkronError('schedule_invalid', 'job.seal_input: expected input, too: give the whole input again');
  }
  if (input !== undefined && sealInput === undefined && base.sealInput) {
    throw new WorkronError('illegal_transition', 'The schedule was changed in the meantime; try again');
  }
}

function editEnv(before: JobSpec['env'], edit: ScheduledJobEdit['env']): JobSpec['env'] {
  if (edit === undefined) return before;
  if (edit === null) return {};
  const changed = Object.entries({ ...before, ...edit });
  return Object.fromEntries(changed.filter((entry): entry is [string, EnvValue] => entry[1] !== null));
}

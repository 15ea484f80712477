/** Errors about options, by the names that the library gives to them instead of those of the API. */

import { decode, invalid } from '../api/decode.ts';
import { JobSubmission } from '../api/job-submission.ts';
import { isWorkronError, WorkronError } from '../core/error.ts';
import type { JobType } from './job.ts';

/** The keys below these are the application's own. */
const WITH_OWN_KEYS = ['env', 'input', 'resources'];

/** Awaits a call; an error about a field of its request names the option instead. */
export async function withOptionNames<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    throw isWorkronError(error, 'bad_request') ? named(error) : error;
  }
}

/** Throws `bad_request` if an option of the job is not valid, before anything is submitted. */
export function checkOptions({ name, template }: JobType): void {
  try {
    decode(JobSubmission, template);
  } catch (error) {
    if (!isWorkronError(error, 'bad_request')) throw error;
    const { message, details } = named(error);
    throw new WorkronError('bad_request', `the job ${name}: ${message}`, details);
  }
}

function named(error: WorkronError): WorkronError {
  const { errors } = error.details;
  if (errors === undefined) return error;
  const { message } = invalid(errors.map(({ pointer, detail }) => ({ pointer: optionOf(pointer), detail })));
  const renamed = errors.map(({ pointer, detail }) => ({
    pointer: `/${optionOf(pointer).replaceAll('.', '/')}`,
    detail,
  }));
  return new WorkronError('bad_request', message, { ...error.details, errors: renamed });
}

/** `/unique/on_conflict` is the option `unique.onConflict`. */
function optionOf(pointer: string): string {
  const steps = pointer.split('/').slice(1);
  const own = steps.findIndex((step) => WITH_OWN_KEYS.includes(step));
  return steps.map((step, index) => (own !== -1 && index > own ? step : camelCase(step))).join('.');
}

function camelCase(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

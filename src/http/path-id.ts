import { idFromPath } from '../api/fields.ts';
import { type ErrorCode, WorkronError } from '../core/error.ts';
import { SCHEDULE_NAME } from '../core/schedule/schedule.ts';

type NotFound = Extract<ErrorCode, `${string}_not_found`>;

/** The id in an address. Ids are opaque, so one that cannot be is simply not found. */
export function pathId(params: Readonly<Record<string, string>>, code: NotFound = 'job_not_found'): number {
  const text = params['id'] ?? '';
  const id = idFromPath(text);
  if (id === undefined) throw new WorkronError(code, `No ${code.replace('_not_found', '')} ${JSON.stringify(text)}`);
  return id;
}

/** The schedule's name in an address. Likewise. */
export function pathName(params: Readonly<Record<string, string>>): string {
  const name = params['name'] ?? '';
  if (!SCHEDULE_NAME.test(name)) throw new WorkronError('schedule_not_found', `No schedule ${JSON.stringify(name)}`);
  return name;
}

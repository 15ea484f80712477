import { idFromPath } from '../api/fields.ts';
import { type ErrorCode, WorkronError } from '../core/error.ts';
import { SCHEDULE_NAME } from '../core/schedule/schedule.ts';

type NotFound = Extract<ErrorCode, `${string}_not_found`>;

/** Returns the id in a path. Ids are opaque, so one that is malformed is simply not found. */
export function pathId(params: Readonly<Record<string, string>>, code: NotFound = 'job_not_found'): number {
  const text = params['id'] ?? '';
  const id = idFromPath(text);
  if (id === undefined) throw new WorkronError(code, `No ${code.replace('_not_found', '')} ${JSON.stringify(text)}`);
  return id;
}

/** Returns the name of a stored definition in a path. One that is malformed is simply not found. */
export function definitionNameIn(params: Readonly<Record<string, string>>): string {
  const name = params['name'] ?? '';
  if (!SCHEDULE_NAME.test(name)) {
    throw new WorkronError('definition_not_found', `No workflow definition ${JSON.stringify(name)}`);
  }
  return name;
}

/** Returns the name of a schedule in a path. One that is malformed is simply not found. */
export function scheduleNameIn(params: Readonly<Record<string, string>>): string {
  const name = params['name'] ?? '';
  if (!SCHEDULE_NAME.test(name)) throw new WorkronError('schedule_not_found', `No schedule ${JSON.stringify(name)}`);
  return name;
}

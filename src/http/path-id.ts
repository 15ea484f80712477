import { idFromPath } from '../api/fields.ts';
import { type ErrorCode, WorkronError } from '../core/error.ts';

type NotFound = Extract<ErrorCode, `${string}_not_found`>;

/** The id in an address. Ids are opaque, so one that cannot be is simply not found. */
export function pathId(params: Readonly<Record<string, string>>, code: NotFound = 'job_not_found'): number {
  const text = params['id'] ?? '';
  const id = idFromPath(text);
  if (id === undefined) throw new WorkronError(code, `No ${code.replace('_not_found', '')} ${JSON.stringify(text)}`);
  return id;
}

/** What every store says when it will not do as it is asked. */

import { WorkronError } from '../core/error.ts';
import type { Unique } from '../core/job.ts';
import type { TermFence } from '../core/leadership.ts';

export function unknownParents(ids: readonly number[]): WorkronError {
  const names = ids.slice(0, 20).join(', ') + (ids.length > 20 ? `, … (${ids.length})` : '');
  return new WorkronError('dependency_unknown', `No such job to depend on: ${names}`);
}

/** `holder` is `undefined` where an earlier job of the same request will have it. */
export function keyHeld(key: string, holder: number | undefined): WorkronError {
  const by = holder === undefined ? 'an earlier job of this request' : `job ${holder}`;
  const details = holder === undefined ? {} : { jobId: holder };
  return new WorkronError('unique_conflict', `The unique key ${JSON.stringify(key)} is held by ${by}`, details);
}

/** Of a job that is retried. */
export function keyHeldByOther(jobId: number, key: string, holder: number): WorkronError {
  return new WorkronError(
    'unique_conflict',
    `Job ${jobId} cannot run again: job ${holder} holds its unique key ${JSON.stringify(key)}`,
    { jobId: holder },
  );
}

/** Children are younger than their parents, so there are no cycles; a replaced job keeps its id and must keep to that. */
export function tooYoungParent(jobId: number, parentId: number): WorkronError {
  return new WorkronError(
    'unique_conflict',
    `Job ${jobId} cannot be replaced by one that depends on job ${parentId}: only earlier jobs can be waited for`,
    { jobId },
  );
}

/** Overwriting a waiting job locks it until the application commits, and whoever would run it would have to wait. */
export function refuseReplace(unique: Unique | null): void {
  if (unique?.onConflict !== 'replace') return;
  throw new WorkronError('bad_request', 'on_conflict replace is not possible in a transaction of your own');
}

export function unknownKeys(schedule: string, keys: readonly string[]): WorkronError {
  const names = keys.slice(0, 20).join(', ') + (keys.length > 20 ? `, … (${keys.length})` : '');
  return new WorkronError('bad_request', `The schedule ${schedule} has no such keys: ${names}`);
}

export function scheduleExists(name: string): WorkronError {
  return new WorkronError('schedule_exists', `There is a schedule ${name} already`);
}

/** A leader whose term is over. */
export function leadershipLost({ duty, term }: TermFence): WorkronError {
  return new WorkronError('leadership_lost', `Term ${term} of the ${duty} is over: another instance may lead it`);
}

/** The errors that every store throws for the same reasons. */

import { WorkronError } from '../core/error.ts';
import type { TermFence } from '../core/leadership.ts';
import { replacesWaiting, type Unique } from '../core/unique.ts';

export function unknownParents(ids: readonly number[]): WorkronError {
  const names = ids.slice(0, 20).join(', ') + (ids.length > 20 ? `, … (${ids.length})` : '');
  return new WorkronError('dependency_unknown', `No such job to depend on: ${names}`);
}

/** `holder` is `undefined` if an earlier job of the same request gets the key. */
export function keyHeld(key: string, holder: number | undefined): WorkronError {
  const by = holder === undefined ? 'an earlier job of this request' : `job ${holder}`;
  const details = holder === undefined ? {} : { jobId: holder };
  return new WorkronError('unique_conflict', `The unique key ${JSON.stringify(key)} is held by ${by}`, details);
}

/** The caller may not change the job that holds the key. */
export function keyHeldElsewhere(key: string, holder: number, queue: string): WorkronError {
  const detail = `The unique key ${JSON.stringify(key)} is held by job ${holder} of the queue ${queue}, which you may not use`;
  return new WorkronError('unique_conflict', detail, { jobId: holder });
}

/** The unique key of a job to be retried is held by another job. */
export function keyHeldByOther(jobId: number, key: string, holder: number): WorkronError {
  return new WorkronError(
    'unique_conflict',
    `Job ${jobId} cannot run again: job ${holder} holds its unique key ${JSON.stringify(key)}`,
    { jobId: holder },
  );
}

/** Children have higher ids than their parents, so there are no cycles; a replaced job keeps its id, so this must hold for it, too. */
export function tooYoungParent(jobId: number, parentId: number): WorkronError {
  return new WorkronError(
    'unique_conflict',
    `Job ${jobId} cannot be replaced by one that depends on job ${parentId}: only earlier jobs can be waited for`,
    { jobId },
  );
}

/** Overwriting a waiting job would lock it until the application commits, and claims would have to wait for that. */
export function refuseReplace(unique: Unique | null): void {
  if (unique === null || !replacesWaiting(unique)) return;
  throw new WorkronError(
    'bad_request',
    `on_conflict ${unique.onConflict} is not possible in an application's transaction`,
  );
}

export function unknownKeys(schedule: string, keys: readonly string[]): WorkronError {
  const names = keys.slice(0, 20).join(', ') + (keys.length > 20 ? `, … (${keys.length})` : '');
  return new WorkronError('bad_request', `The schedule ${schedule} has no such keys: ${names}`);
}

export function scheduleExists(name: string): WorkronError {
  return new WorkronError('schedule_exists', `There is a schedule ${name} already`);
}

/** The term of a leader is over. */
export function leadershipLost({ duty, term }: TermFence): WorkronError {
  return new WorkronError('leadership_lost', `Term ${term} of the ${duty} is over: another instance may lead it`);
}

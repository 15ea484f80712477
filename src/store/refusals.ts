/** What every store says when it will not have a job because of its dependencies. */

import { WorkronError } from '../core/error.ts';

export function unknownParents(ids: readonly number[]): WorkronError {
  const names = ids.slice(0, 20).join(', ') + (ids.length > 20 ? `, … (${ids.length})` : '');
  return new WorkronError('dependency_unknown', `No such job to depend on: ${names}`);
}

/** Children are younger than their parents, so there are no cycles; a replaced job keeps its id and must keep to that. */
export function tooYoungParent(jobId: number, parentId: number): WorkronError {
  return new WorkronError(
    'unique_conflict',
    `Job ${jobId} cannot be replaced by one that depends on job ${parentId}: only earlier jobs can be waited for`,
    { jobId },
  );
}

import type { Job } from '../../../core/job.ts';
import { jobRow, jobsById, jobsInOrder } from '../../engine/reads.ts';
import type { Context } from '../base/context.ts';
import { readShared } from '../base/shared.ts';

/** Unknown ids are left out; an id that is given twice is returned twice. */
export function read(context: Context, ids: readonly number[]): Job[] {
  return ids.length === 0 ? [] : jobsInOrder(ids, readShared(context, jobRow, jobsById(ids)));
}

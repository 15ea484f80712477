/** Selects jobs. All given fields must match. */

import type { Reason, Status } from './job.ts';

export interface JobFilter {
  workflowId?: number;
  /** Items of this group. */
  groupId?: number;
  statuses?: readonly Status[];
  queue?: string;
  name?: string;
  uniqueKey?: string;
  /** The job has all of these tags. */
  tags?: readonly string[];
  workerId?: number;
  reason?: Reason;
  /** Created in [from, to). */
  createdFrom?: number;
  createdTo?: number;
  /** A part of the name, command, error or input, case-insensitive; spaces in the input are ignored. */
  text?: string;
  ids?: readonly number[];
  /** Children of this job. */
  parentId?: number;
  /** Searches only this many jobs, those with the highest ids. */
  newest?: number;
}

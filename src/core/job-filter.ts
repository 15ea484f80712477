/** Selects jobs. All given fields must match. */

import type { Reason, Status } from './job.ts';

export interface JobFilter {
  workflowId?: number;
  /** Items of this group. */
  groupId?: number;
  statuses?: readonly Status[];
  queue?: string;
  name?: string;
  /** The job has all of these tags. */
  tags?: readonly string[];
  workerId?: number;
  reason?: Reason;
  /** Created in [from, to). */
  createdFrom?: number;
  createdTo?: number;
  /** A part of the name, command, error or input, in any case; spaces in the input are ignored. */
  text?: string;
  ids?: readonly number[];
  /** Jobs that depend on this one. */
  parentId?: number;
  /** Only among this many jobs with the highest ids. */
  newest?: number;
}

/** Which jobs are meant. */

import type { Reason, Status } from './job.ts';

export interface JobFilter {
  workflowId?: number;
  /** Items of this group. */
  groupId?: number;
  statuses?: readonly Status[];
  queue?: string;
  name?: string;
  /** All of them. */
  tags?: readonly string[];
  workerId?: number;
  reason?: Reason;
  /** Created in [from, to). */
  createdFrom?: number;
  createdTo?: number;
  /** Part of name, command, error or input, whatever the case; in the input spaces do not count. */
  text?: string;
  ids?: readonly number[];
  /** Jobs that depend on this one. */
  parentId?: number;
  /** Only among jobs with the newest so many ids. */
  newest?: number;
}

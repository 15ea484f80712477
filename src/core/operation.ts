/** Bulk operations: one action on every job that matches a filter. */

import type { JobFilter } from './job-filter.ts';

export const BULK_ACTIONS = ['cancel', 'retry', 'delete'] as const;

export interface NewOperation {
  action: (typeof BULK_ACTIONS)[number];
  filter: JobFilter;
  /** The number of jobs that matched when the operation was created. */
  total: number;
}

export interface Operation extends NewOperation {
  id: number;
  status: 'running' | 'done' | 'cancelled';
  /** Jobs with lower ids are still to be handled; `null`: not begun. */
  cursor: number | null;
  changed: number;
  /** Jobs that matched but could not be changed. */
  skipped: number;
  createdAt: number;
  endedAt: number | null;
}

export interface OperationStep {
  cursor: number | null;
  changed: number;
  skipped: number;
  status: Operation['status'];
}

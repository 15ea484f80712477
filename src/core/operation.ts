/** Bulk operations: one action on every job that matches a filter. */

import type { JobFilter } from './job-filter.ts';

export const BULK_ACTIONS = ['cancel', 'retry'] as const;

export interface NewOperation {
  action: (typeof BULK_ACTIONS)[number];
  filter: JobFilter;
  /** How many matched when it was asked for. */
  total: number;
}

export interface Operation extends NewOperation {
  id: number;
  status: 'running' | 'done' | 'cancelled';
  /** Jobs with ids below this are still to be looked at; `null`: not begun. */
  cursor: number | null;
  changed: number;
  /** Matched, but could not be changed (it had ended, it holds no longer). */
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

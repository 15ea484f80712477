/** Bulk operations: one action on every job that matches a filter. */

import type { Asker, NewAuditEntry } from './audit.ts';
import { changePath, JOB_CHANGES } from './job-change.ts';
import type { JobFilter } from './job-filter.ts';

export const BULK_ACTIONS = ['cancel', 'retry', 'delete'] as const;

export interface NewOperation {
  action: (typeof BULK_ACTIONS)[number];
  filter: JobFilter;
  /** The number of jobs that matched when the operation was created. */
  total: number;
  /** `null`: nobody whose changes are in the audit. */
  askedBy: Asker | null;
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

/** The changes that do the same to one job. */
const CHANGES = { cancel: JOB_CHANGES.cancelJob, retry: JOB_CHANGES.retryJob, delete: JOB_CHANGES.deleteJob } as const;

/** The entry of the audit for one job of an operation: as if it had been changed alone. */
export function auditEntryOf(action: Operation['action'], jobId: number, askedBy: Asker): NewAuditEntry {
  const change = CHANGES[action];
  return { ...askedBy, action: change, path: changePath(change, jobId), status: null };
}

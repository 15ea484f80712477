/** Bulk operations: one action on every job that matches a filter. */

import { type Asker, type NewAuditEntry, subjectOf } from './audit.ts';
import type { JobFilter } from './job-filter.ts';

export const BULK_ACTIONS = ['cancel', 'retry', 'delete'] as const;

export interface NewOperation {
  action: (typeof BULK_ACTIONS)[number];
  filter: JobFilter;
  /** The number of jobs that matched when the operation was created. */
  total: number;
  /** With the entry of the audit that its jobs are part of. `null`: nobody whose decisions are in the audit. */
  askedBy: (Asker & Pick<NewAuditEntry, 'partOf'>) | null;
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

/** The entry of the audit for one job of an operation. */
export function auditEntryOf({ action, askedBy }: NewOperation, jobId: number): NewAuditEntry[] {
  if (askedBy === null) return [];
  return [{ ...askedBy, action: `job.${action}`, subject: subjectOf('job', jobId), result: null, details: null }];
}

/**
 * The audit: who decided what, when, from where, and with which result. An entry is written before the change, and gets its result
 * afterwards; nothing else changes it.
 */

import type { ErrorCode } from './error.ts';

export interface NewAuditEntry {
  /** The caller, such as the name of a token. */
  actor: string;
  address: string;
  /** What was decided: `job.cancel`, `queue.pause`, `jobs.retry`. */
  action: string;
  /** What it is about: `job/12`, `queue/mail`; `null` where that is not one thing. */
  subject: string | null;
  /** `null` while it is not known, and if the process ended before. */
  result: AuditResult | null;
  details: AuditDetails | null;
  /** For one job of a bulk action: the entry of that action. */
  partOf: number | null;
  requestId: string;
}

/** More about some decisions. */
export interface AuditDetails {
  /** A bulk action: which jobs it is about, in the names of the API, and how many matched. */
  filter?: Readonly<Record<string, unknown>>;
  total?: number;
  /** A rerun: the step that it starts from, and what it made. */
  from?: string;
  made?: string;
}

/** `ok`, or why nothing was changed. */
export type AuditResult = 'ok' | ErrorCode;

export type AuditEnd = Pick<NewAuditEntry, 'details'> & { result: AuditResult };

/** Who decides, in which request. */
export type Asker = Pick<NewAuditEntry, 'actor' | 'address' | 'requestId'>;

export type Decision = Asker & Pick<NewAuditEntry, 'action' | 'subject'>;

export interface AuditEntry extends NewAuditEntry {
  id: number;
  at: number;
}

export interface AuditFilter {
  actor?: string;
  /** A part of the subject. */
  subject?: string;
  from?: number;
  to?: number;
  /** The jobs of this bulk action; `null`: no jobs of bulk actions. */
  partOf?: number | null;
}

export function subjectOf(kind: 'job' | 'workflow', id: number): string {
  return `${kind}/${id}`;
}

/**
 * The audit: who changed what through the API, when, from where, and with which result. An entry is written before the change,
 * and gets the result afterwards; nothing else changes it.
 */

export interface NewAuditEntry {
  /** The caller, such as the name of a token. */
  actor: string;
  address: string;
  /** The route: `POST /jobs/:id/cancel`. */
  action: string;
  /** The path of the request: `/jobs/12/cancel`. */
  path: string;
  /** The status of the reply; `null` while it is not known, and if the process ended before. */
  status: number | null;
  requestId: string;
}

/** Who asks for a change, in which request. */
export type Asker = Pick<NewAuditEntry, 'actor' | 'address' | 'requestId'>;

export interface AuditEntry extends NewAuditEntry {
  id: number;
  at: number;
}

export interface AuditFilter {
  actor?: string;
  /** A part of the path. */
  path?: string;
  from?: number;
  to?: number;
}

/** The audit: who changed what through the API, when, from where, and with which result. It is only ever added to. */

export interface NewAuditEntry {
  /** The caller, such as the name of a token. */
  actor: string;
  address: string;
  /** The route: `POST /jobs/:id/cancel`. */
  action: string;
  /** The path of the request: `/jobs/12/cancel`. */
  path: string;
  /** The status of the reply. */
  status: number;
  requestId: string;
}

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

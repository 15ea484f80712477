/** The columns of an entry of the audit, as both databases have them. */

import type { AuditEntry, AuditFilter } from '../core/audit.ts';

export type AuditColumns = Omit<AuditEntry, 'requestId'> & { request_id: string };

export function auditFrom({ request_id: requestId, ...row }: AuditColumns): AuditEntry {
  const { id, at, actor, address, action, path, status } = row;
  return { id, at, actor, address, action, path, status, requestId };
}

/** The parameters of the statement `audit`. */
export function auditParameters(
  { actor, path, from, to }: AuditFilter,
  { before, limit }: { before: number | null; limit: number },
): (string | number | null)[] {
  return [actor ?? null, path ?? null, from ?? null, to ?? null, before, limit];
}

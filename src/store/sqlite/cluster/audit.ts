import type { AuditEntry, AuditFilter, NewAuditEntry } from '../../../core/audit.ts';
import { type AuditColumns, auditFrom, auditParameters } from '../../audit-columns.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';

export function addAudit({ database, now }: Context, entry: NewAuditEntry): number {
  const { actor, address, action, path, status, requestId } = entry;
  return database.insert(sql.insertAudit, now, actor, address, action, path, status, requestId);
}

export function endAudit({ database }: Context, id: number, status: number): void {
  database.run(sql.endAudit, id, status);
}

export function audit(
  { database }: Context,
  filter: AuditFilter,
  page: { before: number | null; limit: number },
): AuditEntry[] {
  return database.all<AuditColumns>(sql.audit, ...auditParameters(filter, page)).map(auditFrom);
}

export function auditOf({ database }: Context, paths: readonly string[], limit: number): AuditEntry[] {
  return database.all<AuditColumns>(sql.auditOf, JSON.stringify(paths), limit).map(auditFrom);
}

export function pruneAudit({ database, now }: Context, keepMs: number, limit: number): number {
  return database.run(sql.pruneAudit, now - keepMs, limit);
}

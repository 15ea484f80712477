import type { AuditEntry, AuditFilter, NewAuditEntry } from '../../../core/audit.ts';
import { type AuditColumns, auditFrom, auditParameters } from '../../audit-columns.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';

export function addAudit({ database, now }: Context, entries: readonly NewAuditEntry[]): number[] {
  return entries.map(({ actor, address, action, path, status, requestId }) =>
    database.insert(sql.insertAudit, now, actor, address, action, path, status, requestId),
  );
}

export function endAudit({ database }: Context, ids: readonly number[], status: number): void {
  for (const id of ids) database.run(sql.endAudit, id, status);
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

import type { AuditEntry, AuditFilter, NewAuditEntry } from '../../../core/audit.ts';
import { type AuditColumns, auditFrom, auditParameters } from '../../audit-columns.ts';
import type { Context } from '../base/context.ts';

export async function addAudit({ database, sql }: Context, entry: NewAuditEntry, signal: AbortSignal): Promise<void> {
  const { actor, address, action, path, status, requestId } = entry;
  await database.query(sql.insertAudit, [actor, address, action, path, status, requestId], signal);
}

export async function audit(
  { database, sql }: Context,
  filter: AuditFilter,
  page: { before: number | null; limit: number },
  signal: AbortSignal,
): Promise<AuditEntry[]> {
  return (await database.query<AuditColumns>(sql.audit, auditParameters(filter, page), signal)).map(auditFrom);
}

export async function pruneAudit(
  { database, sql }: Context,
  keepMs: number,
  limit: number,
  signal: AbortSignal,
): Promise<number> {
  const rows = await database.transaction(signal, (session) => session.query(sql.pruneAudit, [keepMs, limit]));
  return rows.length;
}

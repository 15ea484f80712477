import type { AuditEntry, AuditFilter, NewAuditEntry } from '../../../core/audit.ts';
import { type AuditColumns, auditFrom, auditParameters } from '../../audit-columns.ts';
import type { Context } from '../base/context.ts';

export async function addAudit({ database, sql }: Context, entry: NewAuditEntry, signal: AbortSignal): Promise<number> {
  const { actor, address, action, path, status, requestId } = entry;
  const values = [actor, address, action, path, status, requestId];
  const [row] = await database.query<{ id: number }>(sql.insertAudit, values, signal);
  return row?.id as number;
}

export async function endAudit(
  { database, sql }: Context,
  id: number,
  status: number,
  signal: AbortSignal,
): Promise<void> {
  await database.query(sql.endAudit, [id, status], signal);
}

export async function audit(
  { database, sql }: Context,
  filter: AuditFilter,
  page: { before: number | null; limit: number },
  signal: AbortSignal,
): Promise<AuditEntry[]> {
  return (await database.query<AuditColumns>(sql.audit, auditParameters(filter, page), signal)).map(auditFrom);
}

export async function auditOf(
  { database, sql }: Context,
  paths: readonly string[],
  limit: number,
  signal: AbortSignal,
): Promise<AuditEntry[]> {
  return (await database.query<AuditColumns>(sql.auditOf, [[...paths], limit], signal)).map(auditFrom);
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

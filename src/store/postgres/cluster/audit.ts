import type { AuditEntry, AuditFilter, NewAuditEntry } from '../../../core/audit.ts';
import { type AuditColumns, auditFrom, auditParameters } from '../../audit-columns.ts';
import type { Context } from '../base/context.ts';

export async function addAudit(
  { database, sql }: Context,
  entries: readonly NewAuditEntry[],
  signal: AbortSignal,
): Promise<number[]> {
  const columns = ['actor', 'address', 'action', 'path', 'status', 'requestId'] as const;
  const values = columns.map((column) => entries.map((entry) => entry[column]));
  const rows = await database.query<{ id: number }>(sql.insertAudit, values, signal);
  return rows.map(({ id }) => id);
}

export async function endAudit(
  { database, sql }: Context,
  ids: readonly number[],
  status: number,
  signal: AbortSignal,
): Promise<void> {
  await database.query(sql.endAudit, [[...ids], status], signal);
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

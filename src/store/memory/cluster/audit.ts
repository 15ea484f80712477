import type { AuditEntry, AuditFilter, NewAuditEntry } from '../../../core/audit.ts';
import type { Tables } from '../base/tables.ts';

export function addAudit(tables: Tables, entries: readonly NewAuditEntry[]): number[] {
  return entries.map((entry) => {
    const id = (tables.lastId.audit += 1);
    tables.audit.set(id, { id, at: tables.clock.now(), ...entry });
    return id;
  });
}

export function endAudit(tables: Tables, ids: readonly number[], status: number): void {
  for (const id of ids) {
    const entry = tables.audit.get(id);
    if (entry !== undefined) tables.audit.set(id, { ...entry, status: entry.status ?? status });
  }
}

export function audit(
  tables: Tables,
  { actor, path, from, to }: AuditFilter,
  { before, limit }: { before: number | null; limit: number },
): AuditEntry[] {
  return [...tables.audit.values()]
    .filter((entry) => actor === undefined || entry.actor === actor)
    .filter((entry) => path === undefined || entry.path.includes(path))
    .filter(({ at }) => (from === undefined || at >= from) && (to === undefined || at < to))
    .filter(({ id }) => before === null || id < before)
    .sort((a, b) => b.id - a.id)
    .slice(0, limit)
    .map((entry) => ({ ...entry }));
}

export function auditOf(tables: Tables, paths: readonly string[], limit: number): AuditEntry[] {
  const found = [...tables.audit.values()].filter(({ path }) => paths.includes(path));
  return found
    .sort((a, b) => b.id - a.id)
    .slice(0, limit)
    .map((entry) => ({ ...entry }));
}

export function pruneAudit(tables: Tables, keepMs: number, limit: number): number {
  const old = [...tables.audit.values()].filter(({ at }) => at < tables.clock.now() - keepMs).slice(0, limit);
  for (const { id } of old) tables.audit.delete(id);
  return old.length;
}

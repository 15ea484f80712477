import type { Entry } from '../base/entry.ts';
import { change, type Tables } from '../base/tables.ts';

/** Lets a job wait for its due time only. A group starts, and asks for its items. */
export function free(tables: Tables, entry: Entry): void {
  const now = tables.clock.now();
  if (entry.group !== null) return start(tables, entry);
  const later = entry.dueAt > now;
  const { startTimeoutMs } = entry.spec;
  change(tables, entry, {
    status: later ? 'scheduled' : 'pending',
    expiresAt: startTimeoutMs === null ? null : Math.max(entry.dueAt, now) + startTimeoutMs,
  });
  if (later) tables.changes.willBeDue(entry.dueAt);
  else {
    tables.newcomers.add(entry);
    tables.changes.madeWork();
  }
  tables.changes.changedJob(entry.id);
}

function start(tables: Tables, group: Entry): void {
  change(tables, group, { status: 'running', startedAt: tables.clock.now(), expiresAt: null });
  tables.needItems.add(group);
  tables.changes.changedGraph();
  tables.changes.changedJob(group.id);
}

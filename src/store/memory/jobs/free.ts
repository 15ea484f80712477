import type { Entry } from '../base/entry.ts';
import { change, type Tables } from '../base/tables.ts';

/** Nothing keeps the job but its due time. A group starts: its items wait for that. */
export function free(tables: Tables, entry: Entry): void {
  const now = tables.clock.now();
  if (entry.fan !== null) return start(tables, entry);
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
  tables.due.add(group);
  tables.changes.changedGraph();
  tables.changes.changedJob(group.id);
}

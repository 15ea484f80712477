import { type Counters, isTerminal, type TerminalStatus } from '../../../core/job.ts';
import type { Entry } from '../base/entry.ts';
import { change, type Tables } from '../base/tables.ts';
import { free } from '../jobs/free.ts';
import { dueState, moveEdge } from './edges.ts';
import { itemReopened } from './fan.ts';
import { stepReopened } from './workflow-row.ts';

/**
 * A person's retry of an ended job. It waits for those of its parents that have not ended; how the others ended no
 * longer matters. Its children hear of it by `carry`.
 */
export function reopen(tables: Tables, entry: Entry, counters: Counters): void {
  const status = entry.status as TerminalStatus;
  for (const edge of entry.parents.values()) {
    const parent = tables.jobs.get(edge.parentId) as Entry;
    if (!isTerminal(parent.status)) moveEdge(entry, edge, dueState(parent, edge));
  }
  change(tables, entry, {
    status: 'blocked',
    counters: { ...counters },
    dueAt: tables.clock.now(),
    expiresAt: null,
    cancelRequestedAt: null,
    quiet: false,
    doneAt: null,
    reason: null,
    end: null,
    result: null,
  });
  stepReopened(tables, entry, status);
  itemReopened(tables, entry, status);
  if (entry.edges.open === 0) free(tables, entry);
  tables.changes.changedJob(entry.id);
  if (entry.children.size > 0) tables.cascade.add(entry);
}

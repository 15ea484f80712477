import type { Counters, TerminalStatus } from '../../../core/job.ts';
import type { Entry } from '../base/entry.ts';
import { change, type Tables } from '../base/tables.ts';
import { free } from '../jobs/free.ts';
import { openInEdges } from './edges.ts';
import { itemReopened } from './groups.ts';
import { stepReopened } from './workflow-row.ts';

/**
 * A person's retry of an ended job. It waits for those of its parents that have not ended; how the others ended no
 * longer matters. A member of a gang has lost its place. The caller propagates it to the job's children.
 */
export function reopen(tables: Tables, entry: Entry, counters: Counters): void {
  const status = entry.status as TerminalStatus;
  openInEdges(tables, entry);
  change(tables, entry, {
    status: 'blocked',
    counters: { ...counters },
    dueAt: tables.clock.now(),
    expiresAt: null,
    cancelRequestedAt: null,
    keepChildren: false,
    doneAt: null,
    reason: null,
    end: null,
    result: null,
  });
  tables.places.delete(entry.id);
  stepReopened(tables, entry, status);
  itemReopened(tables, entry, status);
  if (entry.edges.open === 0) free(tables, entry);
  tables.changes.changedJob(entry.id);
  if (entry.children.size > 0) tables.cascade.add(entry);
}

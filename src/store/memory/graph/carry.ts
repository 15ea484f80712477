/** What a job's end or reopening means for those who wait for it: one level at a time, the next is left to the cascade. */

import { judgeModeOf, verdict } from '../../../core/dag/judge.ts';
import { isTerminal } from '../../../core/job.ts';
import { type Entry, hasStarted } from '../base/entry.ts';
import { change, type Tables } from '../base/tables.ts';
import { end } from '../jobs/finish.ts';
import { free } from '../jobs/free.ts';
import { dueState, moveEdge } from './edges.ts';
import { stepReopened } from './workflow-row.ts';

/** Carries what is left of earlier calls further down. */
export function cascade(tables: Tables, limit: number): number {
  const parents = [...tables.cascade.values().take(limit)];
  carry(tables, parents);
  return parents.length;
}

/** The jobs that a call was about and whose children are to hear of it. */
export function named(tables: Tables, refs: readonly { jobId: number }[]): Entry[] {
  return refs.flatMap(({ jobId }) => {
    const entry = tables.jobs.get(jobId);
    return entry !== undefined && tables.cascade.has(entry) ? [entry] : [];
  });
}

interface Touch {
  /** An edge that was closed is so no longer, or otherwise. */
  anew: boolean;
  /** What it waited for was cancelled, and it with it. */
  cancelled: boolean;
}

/** Makes the out-edges of these jobs agree with what they are now, then judges their children by all that came to light. */
export function carry(tables: Tables, parents: readonly Entry[]): void {
  const touched = new Map<Entry, Touch>();
  for (const parent of parents) {
    tables.cascade.delete(parent);
    for (const edge of parent.children.values()) {
      const child = tables.jobs.get(edge.childId) as Entry;
      const state = dueState(parent, edge);
      if (edge.state === state || (edge.state !== 'open' && hasStarted(child))) continue;
      const touch = touched.get(child) ?? { anew: false, cancelled: false };
      touch.anew ||= edge.state !== 'open';
      touch.cancelled ||= state === 'impossible' && parent.status === 'cancelled' && !parent.quiet;
      touched.set(child, touch);
      moveEdge(child, edge, state);
    }
  }
  for (const [child, touch] of touched) judge(tables, child, touch);
}

function judge(tables: Tables, child: Entry, { anew, cancelled }: Touch): void {
  const ended = isTerminal(child.status);
  if (ended ? !anew : child.status !== 'blocked' && !anew) return;
  const fate = verdict(child.edges, judgeModeOf(child));
  if (typeof fate === 'object') {
    if (!ended) skip(tables, child, cancelled ? 'cancelled' : fate.skip);
    else if (child.status === 'skipped') child.reason = fate.skip;
    return;
  }
  if (child.status !== 'blocked') block(tables, child);
  if (fate === 'free') free(tables, child);
}

/** Ends a job that waited in vain. */
export function skip(tables: Tables, entry: Entry, reason: 'cancelled' | 'upstream_failed' | 'condition'): void {
  const status = reason === 'cancelled' ? 'cancelled' : 'skipped';
  end(tables, entry, { status, reason, record: null, error: null });
}

/** Lets a job that never started wait for its parents again, ended or not. */
function block(tables: Tables, entry: Entry): void {
  if (isTerminal(entry.status)) {
    stepReopened(tables, entry, entry.status);
    tables.cascade.add(entry);
    tables.changes.changedGraph();
  }
  change(tables, entry, { status: 'blocked', expiresAt: null, doneAt: null, reason: null, end: null, quiet: false });
  tables.changes.changedJob(entry.id);
}

/** Brings ends and reopenings of jobs to their children, by the rules of core/dag/propagate.ts. */

import { addCounters } from '../../../core/dag/edge-counters.ts';
import { judgeModeOf } from '../../../core/dag/judge.ts';
import {
  type ChildJob,
  cascadeModeOf,
  isRevival,
  type Link,
  parentFor,
  propagate,
} from '../../../core/dag/propagate.ts';
import { isTerminal, type TerminalStatus } from '../../../core/job.ts';
import { type Entry, hasStarted } from '../base/entry.ts';
import { change, type Tables } from '../base/tables.ts';
import { end } from '../jobs/finish.ts';
import { free } from '../jobs/free.ts';
import type { Edge } from './edges.ts';
import { stepReopened } from './workflow-row.ts';

/** Updates the direct children of these jobs. Those that end or are reopened by it are left to the cascade. */
export function propagateFrom(tables: Tables, parents: ReadonlySet<Entry>): void {
  for (const parent of parents) tables.cascade.delete(parent);
  const { moves, updates } = propagate(linksFrom(tables, parents));
  for (const { edge, to } of moves) edge.state = to;
  for (const update of updates) {
    const { entry } = update.child;
    entry.edges = addCounters(entry.edges, update.change, 1);
    const { fate } = update;
    if (fate.kind === 'end') {
      end(tables, entry, { ...fate, record: null, error: null });
      tables.changes.endedByGraph(entry.id);
    } else if (fate.kind === 'reason') entry.reason = fate.reason;
    else if (fate.kind !== 'keep') {
      if (isRevival(update)) reopened(tables, entry);
      if (entry.status !== 'blocked') block(tables, entry);
      if (fate.kind === 'free') free(tables, entry);
    }
  }
}

interface ChildEntry extends ChildJob {
  entry: Entry;
}

function* linksFrom(tables: Tables, parents: ReadonlySet<Entry>): Generator<Link<ChildEntry, Edge>> {
  const children = new Map<number, ChildEntry>();
  for (const { status, keepChildren, spec, children: edges } of parents) {
    const end = isTerminal(status) ? status : null;
    const parent = parentFor(end, spec.continueOnFailure, cascadeModeOf(status, keepChildren));
    for (const edge of edges.values()) {
      let child = children.get(edge.childId);
      if (child === undefined) {
        const entry = tables.jobs.get(edge.childId) as Entry;
        child = childOf(entry);
        children.set(edge.childId, child);
      }
      yield { parent, edge, child };
    }
  }
}

function childOf(entry: Entry): ChildEntry {
  const { status, edges } = entry;
  const ended = isTerminal(status);
  return { entry, ended, status, started: hasStarted(entry), counters: edges, mode: judgeModeOf(entry) };
}

/** An ended child is taken back: its workflow and its own children have to follow. */
function reopened(tables: Tables, entry: Entry): void {
  stepReopened(tables, entry, entry.status as TerminalStatus);
  tables.cascade.add(entry);
  tables.changes.changedGraph();
}

/** Lets a job that never started wait for its parents again, ended or not. */
function block(tables: Tables, entry: Entry): void {
  change(tables, entry, {
    status: 'blocked',
    expiresAt: null,
    doneAt: null,
    reason: null,
    end: null,
    keepChildren: false,
  });
  tables.changes.changedJob(entry.id);
}

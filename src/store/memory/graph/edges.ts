/** Who waits for whom. An edge stands with both of its ends; the child keeps the sum of its own. */

import { type Condition, countedEnd, type EdgeState, meetCondition } from '../../../core/dag/conditions.ts';
import { addCounters, closing, openEdges } from '../../../core/dag/edge-counters.ts';
import { type Dependency, isTerminal } from '../../../core/job.ts';
import type { Entry } from '../base/entry.ts';
import type { Tables } from '../base/tables.ts';

export interface Edge {
  readonly parentId: number;
  readonly childId: number;
  readonly condition: Condition;
  state: EdgeState;
}

/** Ties a job without edges to its parents, which must be there, and counts those that have ended. */
export function link(tables: Tables, child: Entry, dependencies: readonly Dependency[]): void {
  child.edges = openEdges(dependencies.length);
  for (const { jobId, condition } of dependencies) {
    const parent = tables.jobs.get(jobId) as Entry;
    const edge: Edge = { parentId: jobId, childId: child.id, condition, state: 'open' };
    child.parents.set(jobId, edge);
    parent.children.set(child.id, edge);
    moveEdge(child, edge, dueState(parent, edge));
  }
}

/** Forgets the job's dependencies. */
export function unlink(tables: Tables, child: Entry): void {
  for (const parentId of child.parents.keys()) tables.jobs.get(parentId)?.children.delete(child.id);
  child.parents.clear();
  child.edges = openEdges(0);
}

/** Forgets a job that is deleted, wherever an edge leads to it. */
export function cutOff(tables: Tables, entry: Entry): void {
  unlink(tables, entry);
  for (const edge of entry.children.values()) {
    const child = tables.jobs.get(edge.childId) as Entry;
    moveEdge(child, edge, 'open');
    child.edges = { ...child.edges, open: child.edges.open - 1 };
    child.parents.delete(entry.id);
  }
}

/** How the edge stands by what its parent is now. */
export function dueState(parent: Entry, { condition }: Edge): EdgeState {
  if (!isTerminal(parent.status)) return 'open';
  return meetCondition(condition, countedEnd(parent.status, parent.spec.continueOnFailure));
}

export function moveEdge(child: Entry, edge: Edge, state: EdgeState): void {
  if (edge.state !== 'open') child.edges = addCounters(child.edges, closing(edge.condition, edge.state), -1);
  if (state !== 'open') child.edges = addCounters(child.edges, closing(edge.condition, state), 1);
  edge.state = state;
}

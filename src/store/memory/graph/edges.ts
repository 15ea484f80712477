/** Edges between jobs. An edge is held by both of its ends; the child keeps the sum of its edges. */

import { type Condition, countedEnd, type EdgeState, edgeStateFor } from '../../../core/dag/conditions.ts';
import { moveEdge, openEdges, sumEdges } from '../../../core/dag/edge-counters.ts';
import { type Dependency, isTerminal } from '../../../core/job.ts';
import type { Entry } from '../base/entry.ts';
import type { Tables } from '../base/tables.ts';

export interface Edge {
  readonly parentId: number;
  readonly childId: number;
  readonly condition: Condition;
  state: EdgeState;
}

/** Adds the edges of a job that has none. Its parents exist; those that have ended close their edges. */
export function link(tables: Tables, child: Entry, dependencies: readonly Dependency[]): void {
  for (const { jobId, condition } of dependencies) {
    const parent = tables.jobs.get(jobId) as Entry;
    const edge: Edge = { parentId: jobId, childId: child.id, condition, state: stateFor(parent, condition) };
    child.parents.set(jobId, edge);
    parent.children.set(child.id, edge);
  }
  child.edges = sumEdges(child.parents.values());
}

/** Removes the edges to the job's parents. */
export function unlink(tables: Tables, child: Entry): void {
  for (const parentId of child.parents.keys()) tables.jobs.get(parentId)?.children.delete(child.id);
  child.parents.clear();
  child.edges = openEdges(0);
}

/** Removes all edges of a job that is deleted. */
export function cutOff(tables: Tables, entry: Entry): void {
  unlink(tables, entry);
  for (const { childId, condition, state } of entry.children.values()) {
    const child = tables.jobs.get(childId) as Entry;
    const counters = moveEdge(child.edges, condition, [state, 'open']);
    child.edges = { ...counters, open: counters.open - 1 };
    child.parents.delete(entry.id);
  }
}

/** Opens the edges to parents that have not ended; how the others ended no longer matters. */
export function openInEdges(tables: Tables, child: Entry): void {
  for (const edge of child.parents.values()) {
    const parent = tables.jobs.get(edge.parentId) as Entry;
    if (isTerminal(parent.status)) continue;
    child.edges = moveEdge(child.edges, edge.condition, [edge.state, 'open']);
    edge.state = 'open';
  }
}

function stateFor({ status, spec }: Entry, condition: Condition): EdgeState {
  return edgeStateFor(condition, isTerminal(status) ? countedEnd(status, spec.continueOnFailure) : null);
}

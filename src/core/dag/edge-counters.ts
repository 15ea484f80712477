/**
 * The sum of a job's edges, kept in its row: four integers, so that a parent's end costs one addition however many edges
 * there are. The changes of several edges may be summed and added at once.
 */

import type { ClosedEdgeState, Condition, EdgeState } from './conditions.ts';

export interface EdgeCounters {
  /** Parents that have not ended. */
  open: number;
  /** Edges whose condition holds. */
  held: number;
  /** `success` edges that can no longer hold. */
  broken: number;
  /** `failure` edges that can no longer hold. */
  missed: number;
}

/** The counters of a child none of whose parents has ended. */
export function openEdges(count: number): EdgeCounters {
  return { open: count, held: 0, broken: 0, missed: 0 };
}

/** The counters of a child with these edges. */
export function sumEdges(edges: Iterable<{ condition: Condition; state: EdgeState }>): EdgeCounters {
  let counters = openEdges(0);
  for (const edge of edges) counters = addEdge(counters, edge);
  return counters;
}

export function addEdge(
  counters: EdgeCounters,
  { condition, state }: { condition: Condition; state: EdgeState },
): EdgeCounters {
  return moveEdge({ ...counters, open: counters.open + 1 }, condition, ['open', state]);
}

/** The counters after one edge went from one state to another. */
export function moveEdge(
  counters: EdgeCounters,
  condition: Condition,
  [from, to]: readonly [EdgeState, EdgeState],
): EdgeCounters {
  const opened = from === 'open' ? counters : addCounters(counters, closing(condition, from), -1);
  return to === 'open' ? opened : addCounters(opened, closing(condition, to), 1);
}

/** `counters` changed by `change`, taken `times` times. */
export function addCounters(counters: EdgeCounters, change: EdgeCounters, times: number): EdgeCounters {
  return {
    open: counters.open + times * change.open,
    held: counters.held + times * change.held,
    broken: counters.broken + times * change.broken,
    missed: counters.missed + times * change.missed,
  };
}

/** The change of a child's counters when one of its edges is closed in this state. */
function closing(condition: Condition, state: ClosedEdgeState): EdgeCounters {
  // An `ended` edge always holds, so an impossible edge has the condition `success` or `failure`.
  const impossible = state === 'impossible';
  return {
    open: -1,
    held: impossible ? 0 : 1,
    broken: impossible && condition === 'success' ? 1 : 0,
    missed: impossible && condition === 'failure' ? 1 : 0,
  };
}

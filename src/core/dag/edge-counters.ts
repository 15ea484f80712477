/**
 * What a child's row remembers of its dependencies: four integers, so that a parent's end costs one addition however
 * many dependencies there are. The changes of several edges may be summed and added at once.
 */

import type { TerminalStatus } from '../job.ts';
import { type ClosedEdgeState, type Condition, meetCondition } from './conditions.ts';

export interface EdgeCounters {
  /** Parents that have not ended. */
  open: number;
  /** Ended as the edge asked. */
  held: number;
  /** Edges that asked for success, and it can no longer come. */
  broken: number;
  /** Edges that asked for a failure, and it did not come. */
  missed: number;
}

/** Of a child none of whose parents has ended. */
export function openEdges(count: number): EdgeCounters {
  return { open: count, held: 0, broken: 0, missed: 0 };
}

/** After the end of one parent. `parentEnd` is its counted end. */
export function closeEdge(counters: EdgeCounters, condition: Condition, parentEnd: TerminalStatus): EdgeCounters {
  return addCounters(counters, closing(condition, meetCondition(condition, parentEnd)), 1);
}

/** As if the edge had never been closed: its parent is retried. */
export function reopenEdge(counters: EdgeCounters, condition: Condition, state: ClosedEdgeState): EdgeCounters {
  return addCounters(counters, closing(condition, state), -1);
}

/** What closing one edge in this state adds to its child's counters. */
export function closing(condition: Condition, state: ClosedEdgeState): EdgeCounters {
  // An `ended` edge always holds: an impossible one asked for success or for a failure.
  const impossible = state === 'impossible';
  return {
    open: -1,
    held: impossible ? 0 : 1,
    broken: impossible && condition === 'success' ? 1 : 0,
    missed: impossible && condition === 'failure' ? 1 : 0,
  };
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

import type { Condition, EdgeState } from '../../../core/dag/conditions.ts';
import { addCounters, closing, type EdgeCounters, openEdges } from '../../../core/dag/edge-counters.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';

/** After an edge went from one state to another. */
export function moveEdge(
  counters: EdgeCounters,
  condition: Condition,
  [from, to]: [EdgeState, EdgeState],
): EdgeCounters {
  const opened = from === 'open' ? counters : addCounters(counters, closing(condition, from), -1);
  return to === 'open' ? opened : addCounters(opened, closing(condition, to), 1);
}

export function sumEdges(edges: readonly (readonly [condition: Condition, state: EdgeState])[]): EdgeCounters {
  return edges.reduce(
    (counters, [condition, state]) => moveEdge(counters, condition, ['open', state]),
    openEdges(edges.length),
  );
}

/** What an ended job's live row would say of its dependencies; `null`: it has none. */
export function edgeSumOf({ database }: Context, jobId: number): EdgeCounters | null {
  const edges = database.tuples<[Condition, EdgeState]>(sql.edgesInto, jobId);
  return edges.length === 0 ? null : sumEdges(edges);
}

/** The parents of new jobs: how they ended, and the edges that follow from that. */

import { type Condition, countedEnd, type EdgeState, edgeStateFor } from '../../../core/dag/conditions.ts';
import { type EdgeCounters, sumEdges } from '../../../core/dag/edge-counters.ts';
import type { TerminalStatus } from '../../../core/job.ts';
import { unknownParents } from '../../refusals.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';

/** A dependency of a new job. */
export type DependencyRow = readonly [parentId: number, condition: Condition];

type StateRow = readonly [jobId: number, isLive: number, end: TerminalStatus | null, continueOnFailure: number];

/** Counted ends by id; `null` for a parent that has not ended. */
export type ParentEnds = ReadonlyMap<number, TerminalStatus | null>;

/** Throws `dependency_unknown` if a parent does not exist. */
export function parentEndsOf({ database }: Context, dependencies: readonly (readonly DependencyRow[])[]): ParentEnds {
  const ids = [...new Set(dependencies.flatMap((rows) => rows.map(([parentId]) => parentId)))];
  const states = database.tuples<StateRow>(sql.parentStates, JSON.stringify(ids));
  const ends = new Map(
    states.map(([jobId, isLive, end, continues]) => [
      jobId,
      isLive || end === null ? null : countedEnd(end, continues === 1),
    ]),
  );
  const unknown = ids.filter((id) => !ends.has(id));
  if (unknown.length > 0) throw unknownParents(unknown.sort((a, b) => a - b));
  return ends;
}

/** The columns of `edge` from the second on, in their order. */
export type EdgeRow = readonly [parentId: number, condition: Condition, state: EdgeState];

interface Linked {
  edges: EdgeRow[];
  counters: EdgeCounters;
}

/** Returns the edges of a new job; those to parents that have ended are closed. */
export function link(dependencies: readonly DependencyRow[], ends: ParentEnds): Linked {
  const edges = dependencies.map(([parentId, condition]): EdgeRow => {
    return [parentId, condition, edgeStateFor(condition, ends.get(parentId) ?? null)];
  });
  return { edges, counters: sumEdges(edges.map(([, condition, state]) => ({ condition, state }))) };
}

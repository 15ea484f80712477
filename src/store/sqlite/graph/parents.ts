/** The jobs that new ones are to depend on, and how they stand. */

import { type Condition, countedEnd, type EdgeState, meetCondition } from '../../../core/dag/conditions.ts';
import type { EdgeCounters } from '../../../core/dag/edge-counters.ts';
import type { TerminalStatus } from '../../../core/job.ts';
import { unknownParents } from '../../refusals.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';
import { sumEdges } from './edges.ts';

/** What a new job depends on. */
export type DependencyRow = readonly [parentId: number, condition: Condition];

type StateRow = readonly [jobId: number, isLive: number, end: TerminalStatus | null, continueOnFailure: number];

/** By id; `null`: it has not ended. */
export type ParentEnds = ReadonlyMap<number, TerminalStatus | null>;

/** Their counted ends. Throws `dependency_unknown` where one does not exist. */
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

/** In the order of the columns of `edge` from the second on. */
export type EdgeRow = readonly [parentId: number, condition: Condition, state: EdgeState];

export interface Linked {
  edges: EdgeRow[];
  counters: EdgeCounters;
}

/** The edges of a job that is new, those closed whose parents have ended. */
export function link(dependencies: readonly DependencyRow[], ends: ParentEnds): Linked {
  const edges = dependencies.map(([parentId, condition]): EdgeRow => {
    const end = ends.get(parentId) ?? null;
    return [parentId, condition, end === null ? 'open' : meetCondition(condition, end)];
  });
  return { edges, counters: sumEdges(edges.map(([, condition, state]) => [condition, state])) };
}

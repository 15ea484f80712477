/** The parents of new jobs, and the edges to them. */

import { countedEnd } from '../../../core/dag/conditions.ts';
import type { Dependency, TerminalStatus } from '../../../core/job.ts';
import type { Edge, ParentEnds } from '../../engine/graph/edges.ts';
import { unknownParents } from '../../refusals.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';

type StateRow = readonly [jobId: number, isLive: number, end: TerminalStatus | null, continueOnFailure: number];

/** Throws `dependency_unknown` if a parent does not exist. */
export function parentEndsOf({ database }: Context, dependencies: readonly (readonly Dependency[])[]): ParentEnds {
  const ids = [...new Set(dependencies.flatMap((parents) => parents.map(({ jobId }) => jobId)))];
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

/** Inserts the edges of new jobs, and marks their parents as having children. */
export function insertEdges({ database }: Context, edges: readonly Edge[]): void {
  if (edges.length === 0) return;
  const rows = edges.map(({ childId, parentId, condition, state }) => [childId, parentId, condition, state]);
  database.run(sql.insertEdges, JSON.stringify(rows));
  const open = edges.filter(({ state }) => state === 'open').map(({ parentId }) => parentId);
  database.run(sql.markParents, JSON.stringify([...new Set(open)]));
}

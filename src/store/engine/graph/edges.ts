/** Edges between jobs: how they are written and found, and what they make of a new job. */

import { type Condition, type EdgeState, edgeStateFor } from '../../../core/dag/conditions.ts';
import { type EdgeCounters, sumEdges } from '../../../core/dag/edge-counters.ts';
import { type JudgeMode, judgeEdges } from '../../../core/dag/judge.ts';
import type { Dependency, TerminalStatus } from '../../../core/job.ts';
import { inPieces } from '../../in-pieces.ts';
import { columns } from '../../sql/columns.ts';
import { type Fragment, type Part, raw, type Spelling, spelled, sql } from '../../sql/sql.ts';
import type { Tx } from '../../sql/tx.ts';
import { lookedUp } from '../standing.ts';

/** Edges that one statement inserts. */
const PIECE = 5_000;

export interface Edge {
  parentId: number;
  childId: number;
  condition: Condition;
  state: EdgeState;
}

export const edge = columns<Edge>({ parentId: 'bigint', childId: 'bigint', condition: 'text', state: 'text' });

/**
 * The state of an edge `e`. A success that was propagated to all children is not written to the edges: an edge
 * that is `open` there counts as held. Such a parent never runs again.
 */
export const edgeState = sql`case when e.state = 'open' and exists (
  select 1 from run r where r.job_id = e.parent_id and r.propagated ${lookedUp}) then 'held' else e.state end`;

/** Joins the edges `e` from a job to its children; on PostgreSQL job by job, instead of reading all edges. */
export function edgesFrom(parent: string, isAsked: Part = sql`true`): Spelling {
  return joinEdges(sql`e.parent_id = ${raw(parent)} and ${isAsked}`);
}

/** Joins the edges `e` to a job from its parents. */
export function edgesInto(child: string): Spelling {
  return joinEdges(sql`e.child_id = ${raw(child)}`);
}

function joinEdges(isAsked: Fragment): Spelling {
  return spelled({
    sqlite: sql`cross join edge e on ${isAsked}`,
    postgres: sql`cross join lateral (select e.* from edge e where ${isAsked} offset 0) e`,
  });
}

/** Counted ends by id; `null` for a parent that has not ended. */
export type ParentEnds = ReadonlyMap<number, TerminalStatus | null>;

/** The fate of a new job: it waits, is free, as a group or not, is done with a kept result, or is skipped for a reason. */
export type NewJobFate = 'wait' | 'free' | 'group' | 'kept' | 'upstream_failed' | 'condition';

export interface Placement {
  counters: EdgeCounters;
  fate: NewJobFate;
}

/** Judges a new job by the ends of its parents. */
export function placementOf(dependsOn: readonly Dependency[], ends: ParentEnds, mode: JudgeMode): Placement {
  const counters = sumEdges(
    dependsOn.map(({ jobId, condition }) => ({ condition, state: edgeStateFor(condition, ends.get(jobId) ?? null) })),
  );
  const found = judgeEdges(counters, mode);
  return { counters, fate: typeof found === 'object' ? found.skip : found };
}

export function edgesOf(childId: number, dependsOn: readonly Dependency[], ends: ParentEnds): Edge[] {
  return dependsOn.map(({ jobId, condition }) => ({
    childId,
    parentId: jobId,
    condition,
    state: edgeStateFor(condition, ends.get(jobId) ?? null),
  }));
}

export async function insertEdges(tx: Tx, edges: Iterable<Edge>): Promise<void> {
  for (const piece of inPieces(edges, PIECE))
    await tx.run(sql`insert into edge (${edge}) select ${edge} from ${edge.input(piece)} i`);
}

/** Inserts jobs that depend on others, and steps of workflows. */

import { edgeStateFor } from '../../../core/dag/conditions.ts';
import { type EdgeCounters, sumEdges } from '../../../core/dag/edge-counters.ts';
import { type JudgeMode, judgeEdges } from '../../../core/dag/judge.ts';
import type { Dependency, NewJob, TerminalStatus } from '../../../core/job.ts';
import { FLAG } from '../../flags.ts';
import { inPieces } from '../../in-pieces.ts';
import type { Context } from '../base/context.ts';
import type { Session } from '../base/database.ts';
import { numbers } from '../base/values.ts';
import { columnsOf, ownFlags, PIECE } from '../jobs/insert-rows.ts';
import type { EdgeRow } from './related-jobs.ts';

/** The fate of a new job, as sql.insertLinked reads it. */
export type NewJobFate = 'wait' | 'free' | 'group' | 'kept' | 'upstream_failed' | 'condition';

export interface Placement {
  counters: EdgeCounters;
  fate: NewJobFate;
}

/** Judges a new job by the ends of its parents. */
export function placementOf(
  dependsOn: readonly Dependency[],
  ends: ReadonlyMap<number, TerminalStatus | null>,
  mode: JudgeMode,
): Placement {
  const counters = sumEdges(
    dependsOn.map(({ jobId, condition }) => ({ condition, state: edgeStateFor(condition, ends.get(jobId) ?? null) })),
  );
  const found = judgeEdges(counters, mode);
  return { counters, fate: typeof found === 'object' ? found.skip : found };
}

export function edgesOf(
  childId: number,
  dependsOn: readonly Dependency[],
  ends: ReadonlyMap<number, TerminalStatus | null>,
): EdgeRow[] {
  return dependsOn.map(({ jobId, condition }) => ({
    child_id: childId,
    parent_id: jobId,
    condition,
    state: edgeStateFor(condition, ends.get(jobId) ?? null),
  }));
}

/** A new job with its place in the graph. */
export interface LinkedJob {
  job: NewJob;
  lane: number;
  placement: Placement;
  /** Flags beside those that follow from the job and its placement. */
  flags: number;
  step: { workflowId: number; key: string; keepFrom: number | null } | null;
}

/** Inserts jobs without their edges. Returns their ids, in ascending order. */
export async function insertLinked(
  { sql }: Context,
  session: Session,
  linked: readonly LinkedJob[],
): Promise<number[]> {
  const ids: number[] = [];
  for (let start = 0; start < linked.length; start += PIECE) {
    const piece = linked.slice(start, start + PIECE);
    const columns = columnsOf(
      piece.map(({ job }) => job),
      piece.map(({ lane }) => lane),
    );
    const counter = (name: keyof EdgeCounters) =>
      numbers(piece.map(({ placement }) => (hasParents(placement) ? placement.counters[name] : null)));
    const [row] = await session.query<{ ids: number[] }>(sql.insertLinked, [
      ...columns,
      numbers(
        piece.map(({ job, placement, flags }) => {
          const timeFlag = job.startTimeoutMs === null ? FLAG.hasNoStartTimeout : 0;
          return ownFlags(job) | flags | timeFlag | (hasParents(placement) ? FLAG.hasParents : 0);
        }),
      ),
      piece.map(({ placement }) => placement.fate),
      counter('open'),
      counter('held'),
      counter('broken'),
      counter('missed'),
      numbers(piece.map(({ step }) => step?.workflowId ?? null)),
      piece.map(({ step }) => step?.key ?? null),
      numbers(piece.map(({ step }) => step?.keepFrom ?? null)),
    ]);
    ids.push(...(row?.ids ?? []));
  }
  return ids;
}

export async function insertEdges({ sql }: Context, session: Session, edges: Iterable<EdgeRow>): Promise<void> {
  for (const piece of inPieces(edges, PIECE)) {
    await session.query(sql.insertEdges, [
      numbers(piece.map(({ child_id }) => child_id)),
      numbers(piece.map(({ parent_id }) => parent_id)),
      piece.map(({ condition }) => condition),
      piece.map(({ state }) => state),
    ]);
  }
}

function hasParents({ counters }: Placement): boolean {
  return counters.open + counters.held + counters.broken + counters.missed > 0;
}

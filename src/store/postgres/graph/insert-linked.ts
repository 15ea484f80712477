/** Stores jobs that depend on others, and steps of workflows. */

import { addCounters, closing, type EdgeCounters, openEdges } from '../../../core/dag/edge-counters.ts';
import { type JudgeMode, verdict } from '../../../core/dag/judge.ts';
import type { Dependency, NewJob, TerminalStatus } from '../../../core/job.ts';
import { FLAG } from '../../flags.ts';
import { inPieces } from '../../in-pieces.ts';
import type { Context } from '../base/context.ts';
import type { Session } from '../base/database.ts';
import { numbers } from '../base/values.ts';
import { columnsOf, ownFlags, PIECE } from '../jobs/insert-rows.ts';
import { stateOf } from './carrier.ts';
import type { EdgeRow } from './kin.ts';

/** As sql.insertLinked reads it. */
export type Fate = 'wait' | 'free' | 'group' | 'kept' | 'upstream_failed' | 'condition';

export interface Prospect {
  counters: EdgeCounters;
  fate: Fate;
}

/** How a job with these dependencies begins; `ends` are those of its parents. */
export function prospectOf(
  dependsOn: readonly Dependency[],
  ends: ReadonlyMap<number, TerminalStatus | null>,
  mode: JudgeMode,
): Prospect {
  let counters = openEdges(dependsOn.length);
  for (const dependency of dependsOn) {
    const state = stateOf(dependency, ends.get(dependency.jobId) ?? null);
    if (state !== 'open') counters = addCounters(counters, closing(dependency.condition, state), 1);
  }
  const found = verdict(counters, mode);
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
    state: stateOf({ condition }, ends.get(jobId) ?? null),
  }));
}

/** A job with all that is known of its place. */
export interface LinkedJob {
  job: NewJob;
  lane: number;
  prospect: Prospect;
  /** Beside those that follow from the job and its prospect. */
  flags: number;
  step: { workflowId: number; key: string; keepFrom: number | null } | null;
}

/** Without edges. Answers with the ids, which rise. */
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
      numbers(piece.map(({ prospect }) => (hasParents(prospect) ? prospect.counters[name] : null)));
    const [row] = await session.query<{ ids: number[] }>(sql.insertLinked, [
      ...columns,
      numbers(
        piece.map(({ job, prospect, flags }) => {
          const timeFlag = job.startTimeoutMs === null ? FLAG.hasNoStartTimeout : 0;
          return ownFlags(job) | flags | timeFlag | (hasParents(prospect) ? FLAG.hasParents : 0);
        }),
      ),
      piece.map(({ prospect }) => prospect.fate),
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

export function hasParents({ counters }: Prospect): boolean {
  return counters.open + counters.held + counters.broken + counters.missed > 0;
}

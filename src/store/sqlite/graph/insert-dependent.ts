/** Inserts jobs that may have parents: all runs of schedules, and all jobs of a call if one of them has parents. */

import { judgeEdges, type SkipReason } from '../../../core/dag/judge.ts';
import { FLAG } from '../../flags.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';
import { endWaiting } from '../jobs/end-waiting.ts';
import type { NewJobRow } from '../jobs/new-job-row.ts';
import { NEW_JOB } from '../sql/insert.ts';
import { insertEdges } from './edges.ts';
import { type DependencyRow, type EdgeRow, link, type ParentEnds } from './parents.ts';

/** Rows that one statement inserts: its JSON is parsed as a whole. */
export const PIECE = 5_000;

interface DependentJob {
  row: NewJobRow;
  flags: number;
  /** Empty for a job without parents. */
  dependencies: readonly DependencyRow[];
}

/** Inserts each job as blocked, free or skipped, by the states of its parents. Returns the ids. */
export function insertDependent(
  context: Context,
  jobs: readonly DependentJob[],
  { lanes, ends }: { lanes: readonly string[]; ends: ParentEnds },
): number[] {
  const ids: number[] = [];
  const laneIds = JSON.stringify(lanes.map((key) => context.lanes.idOf(key)));
  for (let start = 0; start < jobs.length; start += PIECE) {
    ids.push(...insertPiece(context, jobs.slice(start, start + PIECE), { laneIds, ends }));
  }
  return ids;
}

function insertPiece(
  context: Context,
  jobs: readonly DependentJob[],
  { laneIds, ends }: { laneIds: string; ends: ParentEnds },
): number[] {
  const { database, now, effects, graphUpdate } = context;
  const first = (database.get<{ id: number }>(sql.lastJobId)?.id ?? 0) + 1;
  const linked: { jobId: number; edges: EdgeRow[] }[] = [];
  const skipped: { jobId: number; flags: number; reason: SkipReason }[] = [];
  const rows = jobs.map(({ row, flags: given, dependencies }, index) => {
    const jobId = first + index;
    if (dependencies.length === 0) {
      noteFree(context, row);
      return [...row.slice(0, NEW_JOB.flags), row[NEW_JOB.flags] | given, null, null, null, null];
    }
    const flags =
      row[NEW_JOB.flags] | given | FLAG.hasParents | (row[NEW_JOB.expiresAt] === null ? FLAG.hasNoStartTimeout : 0);
    const { edges, counters } = link(dependencies, ends);
    linked.push({ jobId, edges });
    const { open, held, broken, missed } = counters;
    const fate = judgeEdges(counters, 'each');
    if (typeof fate === 'object') skipped.push({ jobId, flags, reason: fate.skip });
    if (fate === 'free') noteFree(context, row);
    const [queue, kind, name, priority, tags, spec, lane, status, dueAt, expiresAt] = row;
    const place = fate === 'free' ? [status, dueAt, expiresAt] : ['blocked', dueAt, null];
    return [queue, kind, name, priority, tags, spec, lane, ...place, flags, open, held, broken, missed];
  });
  const text = JSON.stringify(rows);
  database.run(sql.insertJobs, first, now, text);
  database.run(sql.insertDependentLive, first, text, laneIds);
  insertEdges(context, linked);
  for (const { jobId, flags, reason } of skipped) endWaiting(context, { jobId, flags }, { status: 'skipped', reason });
  for (let index = 0; index < jobs.length; index += 1) {
    effects.changedJob(first + index);
    graphUpdate.claimable(first + index);
  }
  return jobs.map((_, index) => first + index);
}

function noteFree({ effects }: Context, [, , , , , , , status, dueAt]: NewJobRow): void {
  if (status === 'scheduled') effects.willBeDue(dueAt);
  else effects.madeWork();
}

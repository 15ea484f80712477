/** Intake: jobs that applications inserted or completed in their own transactions, judged after the commit. */

import { judgeEdges } from '../../../core/dag/judge.ts';
import { isWorkronError } from '../../../core/error.ts';
import { laneKey, laneOf } from '../../../core/lane.ts';
import { FLAG } from '../../flags.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';
import { endWaiting } from '../jobs/end-waiting.ts';
import { releaseMeters } from '../jobs/meters.ts';
import { decodeSpecRow, type SpecRow } from '../reads/job-row.ts';
import { insertEdges } from './edges.ts';
import { type DependencyRow, link, type ParentEnds, parentEndsOf } from './parents.ts';

interface IntakeRow {
  job_id: number;
  kind: 'submitted' | 'ended';
  request: string;
}

export function hasIntake({ database }: Context): boolean {
  return database.get(sql.intake, 1) !== undefined;
}

export function adopt(context: Context, limit: number): number {
  const rows = context.database.all<IntakeRow>(sql.intake, limit);
  for (const row of rows) {
    context.database.run(sql.takeIntake, row.job_id);
    if (row.kind === 'submitted') judge(context, row);
    else propagateEnd(context, row);
  }
  return rows.length;
}

type UnjudgedRow = readonly [flags: number, dueAt: number, ...spec: SpecRow];

/** Judges a submitted job, unless it was cancelled since. */
function judge(context: Context, { job_id: jobId, request }: IntakeRow): void {
  const { database, now, lanes, effects, graphUpdate, fairQueues } = context;
  const [row] = database.tuples<UnjudgedRow>(sql.unjudged, jobId);
  if (row === undefined) return;
  const [liveFlags, dueAt, ...specRow] = row;
  const spec = decodeSpecRow(specRow);
  const dependencies = (JSON.parse(request) as { depends_on: DependencyRow[] }).depends_on;
  const ends = endsOf(context, dependencies);
  const { edges, counters } = link(dependencies, ends);
  const hasParents = dependencies.length > 0;
  const fate = hasParents ? judgeEdges(counters, 'each') : 'free';
  const isLater = dueAt > now;
  if (spec.fairKey !== null) fairQueues.add(spec.queue);
  const flags = (liveFlags & ~FLAG.unjudged) | (hasParents ? FLAG.hasParents : 0);
  const { open, held, broken, missed } = counters;
  database.run(
    sql.adoptLive,
    jobId,
    lanes.idOf(laneKey(laneOf(spec))),
    flags,
    fate !== 'free' ? 'blocked' : isLater ? 'scheduled' : 'pending',
    fate === 'free' && spec.startTimeoutMs !== null ? Math.max(dueAt, now) + Math.round(spec.startTimeoutMs) : null,
    ...(hasParents ? [open, held, broken, missed] : [null, null, null, null]),
  );
  insertEdges(context, [{ jobId, edges }]);
  effects.changedJob(jobId);
  if (typeof fate === 'object') endWaiting(context, { jobId, flags }, { status: 'skipped', reason: fate.skip });
  else if (fate === 'free' && isLater) effects.willBeDue(dueAt);
  else if (fate === 'free') {
    effects.madeWork();
    graphUpdate.claimable(jobId);
  }
}

/** A parent that retention has deleted since the submission counts as skipped: how it ended is not known. */
function endsOf(context: Context, dependencies: readonly DependencyRow[]): ParentEnds {
  try {
    return parentEndsOf(context, [dependencies]);
  } catch (error) {
    if (!isWorkronError(error, 'dependency_unknown')) throw error;
    return new Map(dependencies.map(([parentId]) => [parentId, 'skipped']));
  }
}

/** Propagates the end of a completed job, unless a person has retried it since. */
function propagateEnd(context: Context, { job_id: jobId, request }: IntakeRow): void {
  if (context.database.get(sql.isLive, jobId) !== undefined) return;
  const { flags } = JSON.parse(request) as { flags: number };
  context.effects.changedJob(jobId);
  context.effects.madeWork();
  if (flags & FLAG.hasLimits) releaseMeters(context, [jobId], { returned: false });
  context.graphUpdate.ended(context, [{ jobId, flags: flags & ~FLAG.holdsKey, status: 'done' }]);
}

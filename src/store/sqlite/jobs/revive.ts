/** Puts an ended job back among the living. */

import type { Counters, JobSpec, Status } from '../../../core/job.ts';
import { laneKey, laneOf } from '../../../core/lane.ts';
import { FLAG, watchFlags } from '../../flags.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';
import { edgeSumOf } from '../graph/edge-sum.ts';
import { decodeSpecRow, type SpecRow } from '../reads/job-row.ts';

export interface Revived {
  status: Status;
  dueAt: number;
  attempt: number;
  counters: Counters;
  workerId: number | null;
  startedAt: number | null;
}

/** Flags and edges are counted anew; a unique key is not taken again. Answers with the flags. */
export function revive(context: Context, jobId: number, revived: Revived): number {
  const { database, lanes } = context;
  const { status, dueAt, attempt, counters, workerId, startedAt } = revived;
  const [stored] = database.tuples<SpecRow>(sql.specs, jobId);
  if (stored === undefined) throw new Error(`job ${jobId} is missing`);
  const spec = decodeSpecRow(stored);
  const edges = edgeSumOf(context, jobId);
  const flags = placeFlags(context, jobId, spec) | (edges === null ? 0 : FLAG.hasParents);
  database.run(
    sql.reopenLive,
    jobId,
    lanes.idOf(laneKey(laneOf(spec))),
    dueAt,
    attempt,
    counters.failures,
    counters.interruptions,
    counters.snoozes,
    counters.losses,
    workerId,
    startedAt,
    status,
    flags,
    edges?.open ?? null,
    edges?.held ?? null,
    edges?.broken ?? null,
    edges?.missed ?? null,
  );
  // Of a step, the workflow is the run.
  if (spec.tick !== null && !(flags & FLAG.inWorkflow)) database.run(sql.setLines, jobId, spec.tick.line);
  return flags;
}

interface Around {
  workflow_id: number | null;
  group_id: number | null;
  children: number;
  fan: number;
}

function placeFlags({ database }: Context, jobId: number, { notify }: JobSpec): number {
  const around = database.get<Around>(sql.links, jobId);
  if (around === undefined) throw new Error(`job ${jobId} is missing`);
  return (
    (around.children ? FLAG.hasChildren : 0) |
    (around.fan ? FLAG.group : 0) |
    (around.workflow_id === null ? 0 : FLAG.inWorkflow) |
    (around.group_id === null ? watchFlags(notify) : FLAG.item)
  );
}

/** Gives an ended job a live row again. */

import type { EdgeCounters } from '../../../core/dag/edge-counters.ts';
import type { Counters, JobSpec, Status } from '../../../core/job.ts';
import { laneKey, laneOf } from '../../../core/lane.ts';
import { FLAG, specFlags } from '../../flags.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';
import { edgeSumOf } from '../graph/edges.ts';
import { decodeSpecRow, type SpecRow } from '../reads/job-row.ts';

interface Revived {
  status: Status;
  dueAt: number;
  attempt: number;
  counters: Counters;
  workerId: number | null;
  startedAt: number | null;
}

/** Recomputes flags and counters from the job's other rows, and returns them. A unique key is not taken again. */
export function revive(
  context: Context,
  jobId: number,
  revived: Revived,
): { flags: number; edges: EdgeCounters | null } {
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
  // The run of a step's schedule is its workflow.
  if (spec.tick !== null && !(flags & FLAG.inWorkflow)) database.run(sql.setLines, jobId, spec.tick.line);
  return { flags, edges };
}

interface Links {
  workflow_id: number | null;
  group_id: number | null;
  children: number;
  group: number;
}

function placeFlags({ database }: Context, jobId: number, { notify, limits, gang }: JobSpec): number {
  const around = database.get<Links>(sql.links, jobId);
  if (around === undefined) throw new Error(`job ${jobId} is missing`);
  return (
    (around.children ? FLAG.hasChildren : 0) |
    (around.group ? FLAG.group : 0) |
    (around.workflow_id === null ? 0 : FLAG.inWorkflow) |
    (around.group_id === null ? 0 : FLAG.item) |
    specFlags({ notify: around.group_id === null ? notify : [], limits, gang })
  );
}

/** Inserts jobs that may have parents, and steps of workflows, as they were judged. */

import type { NewJob } from '../../../core/job.ts';
import type { Placement } from '../../engine/graph/edges.ts';
import { FLAG } from '../../flags.ts';
import { inPieces } from '../../in-pieces.ts';
import type { LinkedJob } from '../../sql/tx.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';
import { encodeNewJobs, type NewJobRow } from '../jobs/new-job-row.ts';

/** Rows that one statement inserts: its JSON is parsed as a whole. */
const PIECE = 5_000;

/** A `LinkedJob` whose job is encoded. */
export interface LinkedRow extends Omit<LinkedJob, 'job'> {
  row: NewJobRow;
}

export function insertLinkedJobs(context: Context, linked: readonly LinkedJob[]): number[] {
  const jobs: NewJob[] = linked.map(({ job }) => job);
  const { rows, lanes } = encodeNewJobs(jobs, context.now);
  const encoded = linked.map(({ job: _job, ...place }, index) => ({ ...place, row: rows[index] as NewJobRow }));
  return insertLinked(context, encoded, lanes);
}

/** Inserts jobs without their edges. Returns their ids, in ascending order. */
export function insertLinked(context: Context, linked: readonly LinkedRow[], lanes: readonly string[]): number[] {
  const laneIds = lanes.map((key) => context.lanes.idOf(key));
  return [...inPieces(linked, PIECE)].flatMap((piece) => insertPiece(context, piece, laneIds));
}

function insertPiece({ database, now }: Context, piece: readonly LinkedRow[], laneIds: readonly number[]): number[] {
  const first = (database.get<{ id: number }>(sql.lastJobId)?.id ?? 0) + 1;
  const jobs: unknown[] = [];
  const lives: unknown[] = [];
  const ends: unknown[] = [];
  const kept: unknown[] = [];
  piece.forEach(({ row, placement, flags: given, step }, index) => {
    const id = first + index;
    const { fate } = placement;
    const [queue, kind, name, priority, tags, spec, lane, due, dueAt, expiresAt, own] = row;
    const keepFrom = step?.keepFrom ?? null;
    jobs.push([queue, kind, name, priority, tags, spec, step?.workflowId ?? null, step?.key ?? null, keepFrom]);
    if (fate === 'kept' || fate === 'upstream_failed' || fate === 'condition') {
      ends.push(fate === 'kept' ? [id, 'done', null, dueAt] : [id, 'skipped', fate, dueAt]);
      if (fate === 'kept') kept.push([id, keepFrom]);
      return;
    }
    const status = fate === 'wait' ? 'blocked' : fate === 'group' ? 'running' : due;
    const counters = countersOf(placement);
    const flags =
      own | given | (counters[0] === null ? 0 : FLAG.hasParents) | (expiresAt === null ? FLAG.hasNoStartTimeout : 0);
    const place = [laneIds[lane], -priority, status, dueAt, fate === 'free' ? expiresAt : null, flags];
    lives.push([id, ...place, ...counters]);
  });
  database.run(sql.insertLinkedJobs, JSON.stringify(jobs), now, first);
  if (lives.length > 0) database.run(sql.insertLinkedLive, JSON.stringify(lives), now);
  if (ends.length > 0) database.run(sql.insertLinkedEnds, JSON.stringify(ends), now);
  if (kept.length > 0) database.run(sql.keepResults, JSON.stringify(kept));
  return piece.map((_, index) => first + index);
}

/** `null` for a job without parents. */
function countersOf({ counters: { open, held, broken, missed } }: Placement): readonly (number | null)[] {
  return open + held + broken + missed === 0 ? [null, null, null, null] : [open, held, broken, missed];
}

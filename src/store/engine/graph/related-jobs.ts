/** Jobs that a transaction locks because one of their parents or children changes. */

import { addEdge, type EdgeCounters, openEdges } from '../../../core/dag/edge-counters.ts';
import { type JudgeMode, judgeModeOf } from '../../../core/dag/judge.ts';
import type { ChildJob } from '../../../core/dag/propagate.ts';
import type { Status } from '../../../core/job.ts';
import { columns } from '../../sql/columns.ts';
import { anyOf, sql } from '../../sql/sql.ts';
import { StartAgain, type Tx } from '../../sql/tx.ts';
import { continues, isFinal, lookedUp, statusOf } from '../standing.ts';
import { edge, edgeState } from './edges.ts';

/** A job as it was read; a propagation changes it level by level. */
export interface RelatedJob extends ChildJob {
  id: number;
  status: Status;
  ended: boolean;
  started: boolean;
  /** `null` for an ended job. */
  flags: number | null;
  due: number;
  counters: EdgeCounters;
  mode: JudgeMode;
  /** The workflow that counts it: `null` for an item, which its group counts. */
  workflowId: number | null;
  groupId: number | null;
  startTimeoutMs: number | null;
  continueOnFailure: boolean;
}

interface RelatedRow {
  jobId: number;
  status: Status;
  started: boolean;
  due: number;
  workflowId: number | null;
  stepKey: string | null;
  groupId: number | null;
  startTimeoutMs: number | null;
  continueOnFailure: boolean;
}

interface LiveRow extends RelatedRow {
  flags: number;
  openEdges: number | null;
  heldEdges: number | null;
  brokenEdges: number | null;
  missedEdges: number | null;
}

const relatedRow = columns<RelatedRow>({
  jobId: 'bigint',
  status: 'text',
  started: 'bool',
  due: 'instant',
  workflowId: 'bigint',
  stepKey: 'text',
  groupId: 'bigint',
  startTimeoutMs: 'json',
  continueOnFailure: 'bool',
});
const liveRow = relatedRow.with<LiveRow>({
  flags: 'int',
  openEdges: 'int',
  heldEdges: 'int',
  brokenEdges: 'int',
  missedEdges: 'int',
});
const endedRow = relatedRow.with<RelatedRow & { isGroup: boolean }>({ isGroup: 'bool' });
const idRow = columns<{ id: number }>({ id: 'bigint' });

const ofJob = sql`j.workflow_id, j.step_key, j.group_id, j.spec -> 'start_timeout_ms' as start_timeout_ms,
  ${continues} as continue_on_failure`;

/** Jobs by id. Those known to be groups are named apart, as they are locked last. */
interface Wanted {
  ids: readonly number[];
  groupIds?: readonly number[];
}

/** Locks jobs and reads them. Running jobs are locked and left out: their parents no longer affect them. */
export async function lockRelatedJobs(tx: Tx, { ids, groupIds = [] }: Wanted): Promise<Map<number, RelatedJob>> {
  const related = new Map<number, RelatedJob>();
  const all = [...new Set([...ids, ...groupIds])];
  if (all.length === 0) return related;
  await tx.locks.live(ids, groupIds);
  const rows = await tx.all(
    liveRow,
    sql`select l.job_id, ${statusOf('l')} as status, l.flags, l.attempt > 0 or l.started_at is not null as started, l.due,
        l.open_edges, l.held_edges, l.broken_edges, l.missed_edges, ${ofJob}
      from live l join job j on j.id = l.job_id where l.job_id ${anyOf(all)}`,
  );
  for (const row of rows) {
    // It was retried between the two statements.
    if (!tx.locks.holds(row.jobId)) throw new StartAgain();
    if (row.status !== 'running') related.set(row.jobId, waitingJob(row));
  }
  const live = new Set(rows.map(({ jobId }) => jobId));
  const rest = all.filter((id) => !live.has(id));
  if (rest.length > 0) await lockEnded(tx, rest, related);
  return related;
}

async function lockEnded(tx: Tx, ids: readonly number[], related: Map<number, RelatedJob>): Promise<void> {
  const ended = (await tx.locks.ended(ids)).map(({ jobId }) => jobId);
  if (ended.length < ids.length) {
    const held = new Set(ended);
    // It was deleted, or retried between the two statements.
    if (
      (
        await existingJobs(
          tx,
          ids.filter((id) => !held.has(id)),
        )
      ).length > 0
    )
      throw new StartAgain();
    if (ended.length === 0) return;
  }
  const rows = await tx.all(
    endedRow,
    sql`select r.job_id, r.status, r.attempts > 0 or r.started_at is not null as started, r.due,
        exists (select 1 from job_group g where g.job_id = r.job_id ${lookedUp}) as is_group, ${ofJob}
      from run r join job j on j.id = r.job_id where r.job_id ${anyOf(ended)} and ${isFinal('r')}`,
  );
  for (const row of rows) {
    related.set(row.jobId, { ...relatedJobOf(row), ended: true, flags: null, counters: openEdges(0) });
  }
  // The others never wait for their parents again.
  const judged = rows.filter(({ started, isGroup }) => !started || isGroup).map(({ jobId }) => jobId);
  if (judged.length === 0) return;
  const edges = await tx.all(
    edge,
    sql`select e.parent_id, e.child_id, e.condition, ${edgeState} as state from edge e where e.child_id ${anyOf(judged)}`,
  );
  for (const one of edges) {
    const child = related.get(one.childId) as RelatedJob;
    child.counters = addEdge(child.counters, one);
  }
}

/** Returns those of the jobs that exist. */
export async function existingJobs(tx: Tx, ids: readonly number[]): Promise<number[]> {
  const rows = await tx.all(idRow, sql`select id from job where id ${anyOf(ids)}`);
  return rows.map(({ id }) => id);
}

function waitingJob(row: LiveRow): RelatedJob {
  const counters = {
    open: row.openEdges ?? 0,
    held: row.heldEdges ?? 0,
    broken: row.brokenEdges ?? 0,
    missed: row.missedEdges ?? 0,
  };
  return { ...relatedJobOf(row), ended: false, flags: row.flags, counters };
}

function relatedJobOf({ jobId, stepKey, workflowId, ...row }: RelatedRow) {
  const { status, started, due, groupId, startTimeoutMs, continueOnFailure } = row;
  return {
    id: jobId,
    status,
    started,
    due,
    mode: judgeModeOf({ stepKey, groupId }),
    workflowId: groupId === null ? workflowId : null,
    groupId,
    startTimeoutMs: startTimeoutMs === null ? null : Math.round(startTimeoutMs),
    continueOnFailure,
  };
}

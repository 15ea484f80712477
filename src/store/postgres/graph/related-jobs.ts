/** Jobs that a transaction locks because one of their parents or children changes. */

import type { Condition, EdgeState } from '../../../core/dag/conditions.ts';
import { addEdge, type EdgeCounters, openEdges } from '../../../core/dag/edge-counters.ts';
import { type JudgeMode, judgeModeOf } from '../../../core/dag/judge.ts';
import type { ChildJob } from '../../../core/dag/propagate.ts';
import type { Status, TerminalStatus } from '../../../core/job.ts';
import { FLAG } from '../../flags.ts';
import { StartAgain } from '../../sql/tx.ts';
import type { Context } from '../base/context.ts';
import type { Session } from '../base/database.ts';
import { numbers } from '../base/values.ts';
import type { Locks } from './locks.ts';
import type { Transaction } from './transaction.ts';

/** A job as it was read; a propagation changes it level by level. */
export interface RelatedJob extends ChildJob {
  id: number;
  status: Status;
  ended: boolean;
  started: boolean;
  /** `null` for an ended job. */
  flags: number | null;
  counters: EdgeCounters;
  mode: JudgeMode;
  /** The workflow that counts it: `null` for an item, which its group counts. */
  workflowId: number | null;
  groupId: number | null;
  startTimeoutMs: number | null;
  continueOnFailure: boolean;
}

export interface EdgeRow {
  parent_id: number;
  child_id: number;
  condition: Condition;
  state: EdgeState;
}

interface RelatedRow {
  job_id: number;
  started: boolean;
  workflow_id: number | null;
  step_key: string | null;
  group_id: number | null;
  start_timeout_ms: number | null;
  continues: boolean;
}

interface LiveRow extends RelatedRow {
  status: Status;
  flags: number;
  cancelled: boolean;
  open_edges: number | null;
  held_edges: number | null;
  broken_edges: number | null;
  missed_edges: number | null;
}

interface EndedRow extends RelatedRow {
  status: TerminalStatus;
}

export interface GroupLive {
  job_id: number;
  flags: number;
  cancelled: boolean;
}

interface LockedJobs {
  related: Map<number, RelatedJob>;
  /** Running groups. */
  groups: GroupLive[];
}

/** Jobs by id. Those known to be groups are named apart, as they are locked last. */
interface Wanted {
  ids: readonly number[];
  groupIds?: readonly number[];
}

/** Locks jobs and reads them. Running jobs are locked and left out: their parents no longer affect them. */
export async function lockRelatedJobs(
  { sql }: Context,
  { session, locks }: Pick<Transaction, 'session' | 'locks'>,
  { ids, groupIds = [] }: Wanted,
): Promise<LockedJobs> {
  const related = new Map<number, RelatedJob>();
  const groups: GroupLive[] = [];
  const all = [...new Set([...ids, ...groupIds])];
  if (all.length === 0) return { related, groups };
  await locks.live(ids, groupIds);
  const rows = await session.query<LiveRow>(sql.liveRelated, [numbers(all)]);
  for (const row of rows) {
    // It was retried between the two statements.
    if (!locks.holds(row.job_id)) throw new StartAgain();
    if (row.status !== 'running') related.set(row.job_id, waitingJob(row));
    else if (row.flags & FLAG.group) groups.push(row);
  }
  const live = new Set(rows.map(({ job_id }) => job_id));
  const rest = all.filter((id) => !live.has(id));
  if (rest.length > 0) await lockEnded({ sql, session, locks }, rest, related);
  return { related, groups };
}

async function lockEnded(
  { sql, session, locks }: { sql: Context['sql']; session: Session; locks: Locks },
  ids: readonly number[],
  related: Map<number, RelatedJob>,
): Promise<void> {
  const ended = (await locks.ended(ids)).map(({ job_id }) => job_id);
  if (ended.length < ids.length) {
    const held = new Set(ended);
    const missing = ids.filter((id) => !held.has(id));
    // It was deleted, or retried between the two statements.
    if ((await session.query(sql.existingJobs, [numbers(missing)])).length > 0) throw new StartAgain();
    if (ended.length === 0) return;
  }
  const rows = await session.query<EndedRow>(sql.endedRelated, [numbers(ended)]);
  for (const row of rows) related.set(row.job_id, endedJob(row));
  const fresh = rows.filter(({ started }) => !started).map(({ job_id }) => job_id);
  if (fresh.length === 0) return;
  for (const edge of await session.query<EdgeRow>(sql.edgesInto, [numbers(fresh)])) {
    const child = related.get(edge.child_id) as RelatedJob;
    child.counters = addEdge(child.counters, edge);
  }
}

function waitingJob(row: LiveRow): RelatedJob {
  const counters = {
    open: row.open_edges ?? 0,
    held: row.held_edges ?? 0,
    broken: row.broken_edges ?? 0,
    missed: row.missed_edges ?? 0,
  };
  return { ...relatedJobOf(row), status: row.status, ended: false, flags: row.flags, counters };
}

function endedJob(row: EndedRow): RelatedJob {
  return { ...relatedJobOf(row), status: row.status, ended: true, flags: null, counters: openEdges(0) };
}

function relatedJobOf(row: RelatedRow) {
  return {
    id: row.job_id,
    started: row.started,
    mode: judgeModeOf({ stepKey: row.step_key, groupId: row.group_id }),
    workflowId: row.group_id === null ? row.workflow_id : null,
    groupId: row.group_id,
    startTimeoutMs: row.start_timeout_ms,
    continueOnFailure: row.continues,
  };
}

/** Jobs that are locked because of those they depend on. */

import type { Condition, EdgeState } from '../../../core/dag/conditions.ts';
import { addCounters, closing, type EdgeCounters, openEdges } from '../../../core/dag/edge-counters.ts';
import { type JudgeMode, judgeModeOf } from '../../../core/dag/judge.ts';
import type { Status, TerminalStatus } from '../../../core/job.ts';
import { FLAG } from '../../flags.ts';
import type { Context } from '../base/context.ts';
import type { Session } from '../base/database.ts';
import { numbers } from '../base/values.ts';
import { Moved } from './again.ts';
import type { Locks } from './locks.ts';
import type { Transaction } from './transaction.ts';

export interface Kin {
  id: number;
  status: Status;
  ended: boolean;
  /** Ever claimed or, a group, free. */
  started: boolean;
  /** Of an ended job they are not known. */
  flags: number | null;
  counters: EdgeCounters;
  mode: JudgeMode;
  /** Of a step: those of items count in their group. */
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

interface KinRow {
  job_id: number;
  started: boolean;
  workflow_id: number | null;
  step_key: string | null;
  group_id: number | null;
  start_timeout_ms: number | null;
  continues: boolean;
}

interface LiveRow extends KinRow {
  status: Status;
  flags: number;
  cancelled: boolean;
  open_edges: number | null;
  held_edges: number | null;
  broken_edges: number | null;
  missed_edges: number | null;
}

interface EndedRow extends KinRow {
  status: TerminalStatus;
}

export interface GroupRow {
  job_id: number;
  flags: number;
  cancelled: boolean;
}

export interface LockedKin {
  kin: Map<number, Kin>;
  /** Those that run. */
  groups: GroupRow[];
}

/** Jobs, and groups that are known to be some. */
export interface Wanted {
  ids: readonly number[];
  groupIds?: readonly number[];
}

/**
 * Locks jobs and reads them. Those that run are locked and left out: nothing that their parents do concerns them any
 * more.
 */
export async function lockKin(
  { sql }: Context,
  { session, locks }: Pick<Transaction, 'session' | 'locks'>,
  { ids, groupIds = [] }: Wanted,
): Promise<LockedKin> {
  const kin = new Map<number, Kin>();
  const groups: GroupRow[] = [];
  const all = [...new Set([...ids, ...groupIds])];
  if (all.length === 0) return { kin, groups };
  await locks.live(ids, groupIds);
  const rows = await session.query<LiveRow>(sql.liveKin, [numbers(all)]);
  for (const row of rows) {
    // It was retried between the two statements.
    if (!locks.holds(row.job_id)) throw new Moved();
    if (row.status !== 'running') kin.set(row.job_id, waitingKin(row));
    else if (row.flags & FLAG.group) groups.push(row);
  }
  const live = new Set(rows.map(({ job_id }) => job_id));
  const rest = all.filter((id) => !live.has(id));
  if (rest.length > 0) await lockEnded({ sql, session, locks }, rest, kin);
  return { kin, groups };
}

async function lockEnded(
  { sql, session, locks }: { sql: Context['sql']; session: Session; locks: Locks },
  ids: readonly number[],
  kin: Map<number, Kin>,
): Promise<void> {
  const ended = (await locks.ended(ids)).map(({ job_id }) => job_id);
  if (ended.length < ids.length) {
    const held = new Set(ended);
    const missing = ids.filter((id) => !held.has(id));
    // Either it is there no longer at all, or it was retried between the two looks.
    if ((await session.query(sql.existingJobs, [numbers(missing)])).length > 0) throw new Moved();
    if (ended.length === 0) return;
  }
  const rows = await session.query<EndedRow>(sql.endedKin, [numbers(ended)]);
  for (const row of rows) kin.set(row.job_id, endedKin(row));
  const fresh = rows.filter(({ started }) => !started).map(({ job_id }) => job_id);
  if (fresh.length === 0) return;
  for (const edge of await session.query<EdgeRow>(sql.edgesInto, [numbers(fresh)])) {
    const child = kin.get(edge.child_id) as Kin;
    const sum = addCounters(child.counters, openEdges(1), 1);
    child.counters = edge.state === 'open' ? sum : addCounters(sum, closing(edge.condition, edge.state), 1);
  }
}

function waitingKin(row: LiveRow): Kin {
  const counters = {
    open: row.open_edges ?? 0,
    held: row.held_edges ?? 0,
    broken: row.broken_edges ?? 0,
    missed: row.missed_edges ?? 0,
  };
  return { ...kinOf(row), status: row.status, ended: false, flags: row.flags, counters };
}

function endedKin(row: EndedRow): Kin {
  return { ...kinOf(row), status: row.status, ended: true, flags: null, counters: openEdges(0) };
}

function kinOf(row: KinRow) {
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

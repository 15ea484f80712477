/** What a job's end or reopening means for those who wait for it: one level at a time, the next is left to the cascade. */

import { type Condition, countedEnd, type EdgeState, meetCondition } from '../../../core/dag/conditions.ts';
import type { EdgeCounters } from '../../../core/dag/edge-counters.ts';
import { type JudgeMode, verdict } from '../../../core/dag/judge.ts';
import type { Status, TerminalStatus } from '../../../core/job.ts';
import { isStep } from '../../flags.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';
import { endWaiting } from '../jobs/end-waiting.ts';
import { free } from '../jobs/free.ts';
import { edgeSumOf, moveEdge } from './edge-sum.ts';
import { reviveChild } from './revive-child.ts';

/** Of a parent: it has ended, was cancelled with those who wait for it in vain, or waits again. */
export type CarryMode = 'ended' | 'cancelled' | 'reopened';

/** Carries what is left of earlier calls further down, level by level. */
export function cascade(context: Context, limit: number): number {
  const rows = context.database.tuples<[number, CarryMode]>(sql.cascadeHeads, limit);
  let next = new Map(rows);
  let carried = 0;
  while (next.size > 0) {
    carry(context, next);
    carried += next.size;
    next = context.aftermath.takeLeft();
    if (carried + next.size > limit) break;
  }
  // What goes beyond the limit is left to the next call.
  if (next.size > 0) leaveToCascade(context, next);
  return carried;
}

/** Their children are to hear of it in a later call. */
export function leaveToCascade({ database, effects }: Context, parents: ReadonlyMap<number, CarryMode>): void {
  database.run(sql.queueCascade, JSON.stringify([...parents]));
  effects.changedGraph();
}

type ParentRow = readonly [jobId: number, isLive: number, end: TerminalStatus | null, continueOnFailure: number];

type EdgeRow = readonly [
  parentId: number,
  childId: number,
  condition: Condition,
  state: EdgeState,
  /** `null`, as all that follows: the child has ended. */
  status: Status | null,
  flags: number,
  dueAt: number,
  hasStarted: number,
  open: number,
  held: number,
  broken: number,
  missed: number,
];

interface Touched {
  /** `null`: the child has ended. */
  live: { status: Status; flags: number; dueAt: number; counters: EdgeCounters } | null;
  /** An edge that was closed is so no longer, or otherwise. */
  anew: boolean;
  /** What it waited for was cancelled, and it with it. */
  cancelled: boolean;
}

/** Parents whose edges are read at once. */
const PIECE = 100;

/**
 * Makes the out-edges of these jobs agree with what they are now, then judges their children by all that came to light; those
 * that were told already are left out.
 */
export function carry(
  context: Context,
  parents: ReadonlyMap<number, CarryMode>,
  told: ReadonlySet<number> = new Set(),
): void {
  const { database } = context;
  const ids = [...parents.keys()];
  database.run(sql.dropCascade, JSON.stringify(ids));
  const touched = new Map<number, Touched>();
  for (let start = 0; start < ids.length; start += PIECE) {
    const piece = JSON.stringify(ids.slice(start, start + PIECE));
    const states = new Map(database.tuples<ParentRow>(sql.parentStates, piece).map((row) => [row[0], row]));
    for (const row of database.tuples<EdgeRow>(sql.edgesFrom, piece)) {
      const parent = states.get(row[0]);
      if (parent !== undefined && !told.has(row[1]))
        touch(context, touched, { row, parent, mode: parents.get(row[0]) });
    }
  }
  for (const [childId, child] of touched) judge(context, childId, child);
}

interface TouchingEdge {
  row: EdgeRow;
  parent: ParentRow;
  mode: CarryMode | undefined;
}

/** Brings one edge to where it has to be, and notes what that means to the child. */
function touch(context: Context, touched: Map<number, Touched>, { row, parent, mode }: TouchingEdge): void {
  const [parentId, childId, condition, before] = row;
  const [, isLive, end, continues] = parent;
  const counted = isLive || end === null ? null : countedEnd(end, continues === 1);
  const state = counted === null ? 'open' : meetCondition(condition, counted);
  if (state === before || (before !== 'open' && hasStarted(context, row))) return;
  context.database.run(sql.setEdge, childId, parentId, state);
  let child = touched.get(childId);
  if (child === undefined) {
    child = { live: liveOf(row), anew: false, cancelled: false };
    touched.set(childId, child);
  }
  child.anew ||= before !== 'open';
  child.cancelled ||= state === 'impossible' && counted === 'cancelled' && mode === 'cancelled';
  if (child.live !== null) child.live.counters = moveEdge(child.live.counters, condition, [before, state]);
}

function liveOf([, , , , status, flags, dueAt, , ...counters]: EdgeRow): Touched['live'] {
  if (status === null) return null;
  const [open, held, broken, missed] = counters;
  return { status, flags, dueAt, counters: { open, held, broken, missed } };
}

/** Whether the child was ever claimed or, a group, was free. */
function hasStarted({ database }: Context, [, childId, , , status, , , started]: EdgeRow): boolean {
  if (status !== null) return started === 1;
  return database.get<{ started: number }>(sql.endedStarted, childId)?.started !== 0;
}

function judge(context: Context, jobId: number, { live, anew, cancelled }: Touched): void {
  if (live === null) {
    if (anew) judgeEnded(context, jobId);
    return;
  }
  const { status, flags, dueAt, counters } = live;
  const { open, held, broken, missed } = counters;
  const { database, effects } = context;
  const fate = status === 'blocked' || anew ? verdict(counters, judgeModeOf(flags)) : 'left';
  if (typeof fate === 'object') {
    const skipped = { status: 'skipped', reason: fate.skip } as const;
    endWaiting(context, { jobId, flags }, cancelled ? { status: 'cancelled', reason: 'cancelled' } : skipped);
  } else if (fate === 'free') free(context, { jobId, flags, dueAt, counters });
  else {
    database.run(sql.setCounters, jobId, open, held, broken, missed);
    if (fate === 'left' || status === 'blocked') return;
    database.run(sql.blockJob, jobId);
    effects.changedJob(jobId);
  }
}

/** One that never started is judged anew: it waits again, is free, or has ended for another reason. */
function judgeEnded(context: Context, jobId: number): void {
  const { database } = context;
  const counters = edgeSumOf(context, jobId);
  if (counters === null) return;
  const isAStep = database.get<{ found: number }>(sql.isStep, jobId)?.found === 1;
  const fate = verdict(counters, isAStep ? 'together' : 'each');
  if (typeof fate === 'object') database.run(sql.retell, jobId, fate.skip);
  else reviveChild(context, jobId, counters, fate);
}

function judgeModeOf(flags: number): JudgeMode {
  return isStep(flags) ? 'together' : 'each';
}

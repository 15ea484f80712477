/**
 * Computes how ends and reopenings of jobs change their direct children. Decides; does not write.
 *
 * Each edge gets the state that its parent asks for now. A closed edge of a child that has started stays as it is: nothing
 * reaches that child any more. Then each child with a moved edge is judged once, by the sum of all its edges: if it is
 * blocked, or if a closed edge of it moved. Children that end or are reopened by this are the parents of the next level.
 */

import { isTerminal, type Status, type TerminalStatus } from '../job.ts';
import { type Condition, countedEnd, type EdgeState, edgeStateFor } from './conditions.ts';
import { addCounters, type EdgeCounters, moveEdge, openEdges } from './edge-counters.ts';
import { type JudgeMode, judgeEdges, type SkipReason } from './judge.ts';

/** The event that a job passes on to its children: it ended, it was cancelled with its descendants, or it waits again. */
export type CascadeMode = 'ended' | 'cancelled' | 'reopened';

/** Returns the mode for a job with this status. `keepChildren`: its cancellation does not cancel its children. */
export function cascadeModeOf(status: Status, keepChildren: boolean): CascadeMode {
  if (!isTerminal(status)) return 'reopened';
  return status === 'cancelled' && !keepChildren ? 'cancelled' : 'ended';
}

/** A job as its children see it. */
export interface Parent {
  /** Its counted end; `null` while it has not ended. */
  end: TerminalStatus | null;
  /** Children that can no longer run are cancelled with it, not skipped. */
  cancels: boolean;
}

/** `end` is `null` while the job has not ended. */
export function parentFor(end: TerminalStatus | null, continueOnFailure: boolean, mode: CascadeMode): Parent {
  return {
    end: end === null ? null : countedEnd(end, continueOnFailure),
    cancels: end === 'cancelled' && mode === 'cancelled',
  };
}

/** A child before the update. Fields other than `ended` may be getters that load on demand. */
export interface ChildJob {
  readonly ended: boolean;
  readonly status: Status;
  /** True if it was claimed at least once or, for a group, freed at least once. */
  readonly started: boolean;
  /** The sum of all its edges. */
  readonly counters: EdgeCounters;
  readonly mode: JudgeMode;
}

/** An edge with both of its ends. */
export interface Link<Child extends ChildJob, Edge> {
  parent: Parent;
  edge: Edge & { readonly condition: Condition; readonly state: EdgeState };
  child: Child;
}

interface EdgeMove<Edge> {
  edge: Edge;
  to: EdgeState;
}

type ChildFate =
  /** Nothing but its counters changes. */
  | { kind: 'keep' }
  /** It waits for its parents again. */
  | { kind: 'block' }
  /** It waits for its due time only. */
  | { kind: 'free' }
  | { kind: 'end'; status: 'skipped' | 'cancelled'; reason: SkipReason | 'cancelled' }
  /** It stays skipped, for another reason. */
  | { kind: 'reason'; reason: SkipReason };

export interface ChildUpdate<Child> {
  child: Child;
  /** The change of its counters by the moved edges. */
  change: EdgeCounters;
  fate: ChildFate;
}

interface Propagated<Child, Edge> {
  moves: EdgeMove<Edge>[];
  updates: ChildUpdate<Child>[];
}

interface Touch {
  change: EdgeCounters;
  /** A closed edge has moved. */
  reopened: boolean;
  /** A parent that cancels its children has closed an edge as impossible. */
  cancelled: boolean;
}

/** Each edge is given once; children are compared by identity. Each child is updated at most once. */
export function propagate<Child extends ChildJob, Edge>(links: Iterable<Link<Child, Edge>>): Propagated<Child, Edge> {
  const moves: EdgeMove<Edge>[] = [];
  const touched = new Map<Child, Touch>();
  for (const { parent, edge, child } of links) {
    const { condition, state: from } = edge;
    const to = edgeStateFor(condition, parent.end);
    if (from === to || (from !== 'open' && child.started)) continue;
    moves.push({ edge, to });
    let touch = touched.get(child);
    if (touch === undefined) {
      touch = { change: openEdges(0), reopened: false, cancelled: false };
      touched.set(child, touch);
    }
    touch.change = moveEdge(touch.change, condition, [from, to]);
    touch.reopened ||= from !== 'open';
    touch.cancelled ||= to === 'impossible' && parent.cancels;
  }
  const updates = Array.from(touched, ([child, touch]) => ({
    child,
    change: touch.change,
    fate: fateOf(child, touch),
  }));
  return { moves, updates };
}

function fateOf(child: ChildJob, { change, reopened, cancelled }: Touch): ChildFate {
  if (!reopened && (child.ended || child.status !== 'blocked')) return KEEP;
  const judged = judgeEdges(addCounters(child.counters, change, 1), child.mode);
  if (judged === 'free') return FREE;
  if (judged === 'wait') return child.status === 'blocked' ? KEEP : BLOCK;
  if (child.ended) return child.status === 'skipped' ? { kind: 'reason', reason: judged.skip } : KEEP;
  if (cancelled) return { kind: 'end', status: 'cancelled', reason: 'cancelled' };
  return { kind: 'end', status: 'skipped', reason: judged.skip };
}

const KEEP: ChildFate = { kind: 'keep' };
const BLOCK: ChildFate = { kind: 'block' };
const FREE: ChildFate = { kind: 'free' };

/** True if the update takes an ended child back. */
export function isRevival({ child, fate }: ChildUpdate<ChildJob>): boolean {
  return child.ended && (fate.kind === 'block' || fate.kind === 'free');
}

/**
 * Brings ends and reopenings of jobs to their children, by the rules of core/dag/propagate.ts. The children are locked; all
 * levels are decided here, then written at once.
 */

import type { EdgeState } from '../../../core/dag/conditions.ts';
import { addCounters } from '../../../core/dag/edge-counters.ts';
import {
  type CascadeMode,
  type ChildUpdate,
  cascadeModeOf,
  isRevival,
  type Link,
  type Parent,
  parentFor,
  propagate,
} from '../../../core/dag/propagate.ts';
import type { Reason, TerminalStatus } from '../../../core/job.ts';
import { FLAG } from '../../flags.ts';
import { columns } from '../../sql/columns.ts';
import { after, alsoAnyOf, anyOf, type Fragment, now, raw, sql } from '../../sql/sql.ts';
import { StartAgain, type Tx } from '../../sql/tx.ts';
import { isFinal, listed } from '../standing.ts';
import type { Edge } from './edges.ts';
import { endLive } from './end-live.ts';
import type { RelatedJob } from './related-jobs.ts';
import { type Place, placesToWait, type Revived, revive } from './revive.ts';

/** A job whose state has to reach its children. */
export interface ParentJob extends Parent {
  id: number;
}

interface End {
  status: TerminalStatus;
  reason: Reason;
}

interface Move extends Pick<Edge, 'childId' | 'parentId'> {
  before: EdgeState;
  after: EdgeState;
}

interface Kept {
  jobId: number;
  openEdges: number;
  heldEdges: number;
  brokenEdges: number;
  missedEdges: number;
  free: boolean;
  startTimeoutMs: number | null;
}

interface Rewritten extends End {
  jobId: number;
  /** It was reopened and has ended again. */
  reopened: boolean;
}

const move = columns<Move>({ childId: 'bigint', parentId: 'bigint', before: 'text', after: 'text' });
const kept = columns<Kept>({
  jobId: 'bigint',
  openEdges: 'int',
  heldEdges: 'int',
  brokenEdges: 'int',
  missedEdges: 'int',
  free: 'bool',
  startTimeoutMs: 'real',
});
const rewritten = columns<Rewritten>({ jobId: 'bigint', status: 'text', reason: 'text', reopened: 'bool' });

export class Propagation {
  readonly #tx: Tx;
  readonly #related: ReadonlyMap<number, RelatedJob>;
  readonly #edges: ReadonlyMap<number, Edge[]>;
  /** Jobs that had ended before. */
  readonly #endedBefore: ReadonlySet<number>;
  /** Moved edges, with their states in the database. */
  readonly #moved = new Map<Edge, EdgeState>();
  readonly #touched = new Set<RelatedJob>();
  readonly #ends = new Map<RelatedJob, End>();
  readonly #newReasons = new Map<RelatedJob, End>();

  /** `edges` lead to jobs in `related`. */
  constructor(tx: Tx, related: ReadonlyMap<number, RelatedJob>, edges: readonly Edge[]) {
    this.#tx = tx;
    this.#related = related;
    this.#endedBefore = new Set([...related.values()].filter(({ ended }) => ended).map(({ id }) => id));
    this.#edges = Map.groupBy(edges, ({ parentId }) => parentId);
  }

  /** True if edges from this job were given. */
  hasEdges(parentId: number): boolean {
    return this.#edges.has(parentId);
  }

  /** Goes one level down. Returns the children that end or are reopened by it. Queues those with children of their own. */
  propagateFrom(parents: readonly ParentJob[]): ParentJob[] {
    const { moves, updates } = propagate(this.#linksFrom(parents));
    for (const { edge, to } of moves) {
      if (!this.#moved.has(edge)) this.#moved.set(edge, edge.state);
      edge.state = to;
    }
    const changed = updates.flatMap((update) => this.#apply(update) ?? []);
    for (const parent of changed) {
      const { flags } = this.#related.get(parent.id) as RelatedJob;
      if (flags === null || flags & FLAG.hasChildren) this.#tx.graphUpdate.queueCascade(parent.id, modeOf(parent));
    }
    return changed;
  }

  *#linksFrom(parents: readonly ParentJob[]): Generator<Link<RelatedJob, Edge>> {
    for (const parent of parents) {
      for (const edge of this.#edges.get(parent.id) ?? []) {
        const child = this.#related.get(edge.childId);
        if (child !== undefined) yield { parent, edge, child };
      }
    }
  }

  #apply(update: ChildUpdate<RelatedJob>): ParentJob | undefined {
    const { graphUpdate } = this.#tx;
    const { child, change, fate } = update;
    const { id, status, workflowId, continueOnFailure } = child;
    child.counters = addCounters(child.counters, change, 1);
    this.#touched.add(child);
    if (fate.kind === 'keep') return undefined;
    if (fate.kind === 'reason') {
      this.#newReasons.set(child, { status: 'skipped', reason: fate.reason });
      return undefined;
    }
    const revived = isRevival(update);
    child.ended = fate.kind === 'end';
    if (fate.kind === 'end') {
      child.status = fate.status;
      this.#ends.set(child, fate);
      graphUpdate.stepEnded(workflowId, { status: fate.status, continueOnFailure });
      return { id, ...parentFor(fate.status, continueOnFailure, cascadeModeOf(fate.status, false)) };
    }
    child.status = fate.kind === 'free' ? 'pending' : 'blocked';
    if (!revived) return undefined;
    this.#ends.delete(child);
    graphUpdate.stepReopened(workflowId, { status: status as TerminalStatus, continueOnFailure });
    return { id, ...parentFor(null, continueOnFailure, 'reopened') };
  }

  /** Throws `StartAgain` if an edge is not what it was when it was read. */
  async write(): Promise<void> {
    if (this.#moved.size === 0) return;
    const { effects, graphUpdate } = this.#tx;
    const touched = [...this.#touched];
    const wasEnded = ({ id }: RelatedJob) => this.#endedBefore.has(id);
    const live = touched.filter((child) => !wasEnded(child));
    await this.#writeLive(live);
    await this.#writeEnded(touched.filter(wasEnded));
    for (const { id } of touched) effects.changedJob(id);
    for (const { id, ended, flags, status } of live) {
      if (!ended) continue;
      effects.endedByGraph(id);
      graphUpdate.waitingEnded({ jobId: id, flags: flags ?? 0, status: status as TerminalStatus });
    }
  }

  async #writeLive(children: readonly RelatedJob[]): Promise<void> {
    const moves = [...this.#moved].filter(([{ state }, before]) => before !== state);
    const stay = children.filter(({ ended }) => !ended);
    const ends = children.filter(({ ended }) => ended).map((child) => ({ child, end: this.#ends.get(child) as End }));
    const started = stay.filter((child) => isFree(child) && isGroup(child)).map(({ id }) => id);
    const statements = [
      ...(moves.length === 0 ? [] : [moveEdges(moves)]),
      ...(stay.length === 0 ? [] : [keepLive(stay)]),
      ...(started.length === 0 ? [] : [sql`update job_group set needs_items = true where job_id ${anyOf(started)}`]),
      ...endLive(ends.map(({ child, end }) => ({ jobId: child.id, ...end, error: null }))),
    ];
    if (statements.length === 0) return;
    const counted = moves.length === 0 ? undefined : 'counted';
    const written = await this.#tx.runTogether(statements, counted);
    if (counted && written.count !== moves.length) throw new StartAgain();
    this.#tx.graphUpdate.at(written.now);
    for (const child of stay.filter(isFree)) this.#tx.graphUpdate.freed(child, written.now);
  }

  async #writeEnded(children: readonly RelatedJob[]): Promise<void> {
    const waiting = children.filter(({ ended }) => !ended);
    if (waiting.length > 0) {
      const ids = waiting.map(({ id }) => id);
      const places = await placesToWait(this.#tx, ids);
      await revive(
        this.#tx,
        waiting.map((child): Revived => {
          const place = places.get(child.id) as Place;
          const restarts = isFree(child) && (place.flags & FLAG.group) !== 0;
          const status = isFree(child) ? (restarts ? 'running' : 'free') : 'blocked';
          return { jobId: child.id, status, restarts, due: child.due, counters: child.counters, ...place };
        }),
      );
    }
    const rows = children.flatMap((child): Rewritten[] => {
      const again = this.#ends.get(child);
      const end = again ?? this.#newReasons.get(child);
      if (!child.ended || end === undefined) return [];
      return [{ jobId: child.id, status: end.status, reason: end.reason, reopened: again !== undefined }];
    });
    if (rows.length === 0) return;
    await this.#tx.run(sql`update run set status = i.status, outcome = i.status, reason = i.reason,
        ended_at = case when i.reopened then ${now} else run.ended_at end
      from ${rewritten.input(rows)} i
      where run.job_id = i.job_id and ${isFinal('run')} ${alsoAnyOf(
        'run.job_id',
        rows.map(({ jobId }) => jobId),
      )}`);
  }
}

function moveEdges(moves: readonly (readonly [Edge, EdgeState])[]): Fragment {
  const rows = moves.map(
    ([{ childId, parentId, state }, before]): Move => ({ childId, parentId, before, after: state }),
  );
  return sql`update edge set state = i.after from ${move.input(rows)} i
    where edge.child_id = i.child_id and edge.parent_id = i.parent_id and edge.state = i.before
      ${alsoAnyOf('edge.child_id', [...new Set(rows.map(({ childId }) => childId))])} returning 1`;
}

const group = raw(`live.flags & ${FLAG.group} <> 0`);
/** When the job is both due and free: its start timeout counts from then. */
const ready = sql`case when live.due > ${now} then live.due else ${now} end`;

/** Waiting children that stay blocked or are free. One that is parked goes back to its lane. */
function keepLive(children: readonly RelatedJob[]): Fragment {
  const rows = children.map((child): Kept => {
    const { open, held, broken, missed } = child.counters;
    const counters = { openEdges: open, heldEdges: held, brokenEdges: broken, missedEdges: missed };
    return { jobId: child.id, ...counters, free: isFree(child), startTimeoutMs: child.startTimeoutMs };
  });
  return sql`update live
    set open_edges = i.open_edges, held_edges = i.held_edges, broken_edges = i.broken_edges, missed_edges = i.missed_edges,
      ${listed} = case when not i.free then 'blocked' when ${group} then 'running'
        when live.due > ${now} then 'scheduled' else 'pending' end,
      lane = case when live.lane > 0 then live.lane
        else coalesce((select p.lane from parking p where p.id = -live.lane), live.lane) end,
      started_at = case when i.free and ${group} then ${now} else live.started_at end,
      expires_at = case when i.free and not ${group} then ${after(ready, raw('i.start_timeout_ms'))} end
    from ${kept.input(rows)} i where live.job_id = i.job_id ${alsoAnyOf(
      'live.job_id',
      children.map(({ id }) => id),
    )}`;
}

function modeOf({ end, cancels }: Parent): CascadeMode {
  return end === null ? 'reopened' : cancels ? 'cancelled' : 'ended';
}

function isFree({ status }: RelatedJob): boolean {
  return status !== 'blocked';
}

function isGroup({ flags }: RelatedJob): boolean {
  return ((flags ?? 0) & FLAG.group) !== 0;
}

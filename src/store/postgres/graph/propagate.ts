/**
 * Brings ends and reopenings of jobs to their children, by the rules of core/dag/propagate.ts. The children are locked; all
 * levels are decided here, then written at once.
 */

import type { EdgeState } from '../../../core/dag/conditions.ts';
import { addCounters } from '../../../core/dag/edge-counters.ts';
import {
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
import { StartAgain } from '../../sql/tx.ts';
import type { Context } from '../base/context.ts';
import type { Session } from '../base/database.ts';
import { numbers } from '../base/values.ts';
import type { CascadeEntry, TransactionEffects } from './effects.ts';
import type { EdgeRow, RelatedJob } from './related-jobs.ts';
import { lanesOf } from './reopen.ts';

/** A job whose state has to reach its children. */
export interface ParentJob extends Parent {
  id: number;
}

interface End {
  status: TerminalStatus;
  reason: Reason;
}

export class Propagation {
  readonly #related: ReadonlyMap<number, RelatedJob>;
  readonly #effects: TransactionEffects;
  readonly #edges = new Map<number, EdgeRow[]>();
  /** Jobs that had ended before. */
  readonly #endedBefore: ReadonlySet<number>;
  /** Moved edges, with their states in the database. */
  readonly #moved = new Map<EdgeRow, EdgeState>();
  readonly #touched = new Set<RelatedJob>();
  readonly #ends = new Map<RelatedJob, End>();
  readonly #newReasons = new Map<RelatedJob, End>();

  /** `edges` lead to jobs in `related`. */
  constructor(related: ReadonlyMap<number, RelatedJob>, edges: readonly EdgeRow[], effects: TransactionEffects) {
    this.#related = related;
    this.#effects = effects;
    this.#endedBefore = new Set([...related.values()].filter(({ ended }) => ended).map(({ id }) => id));
    for (const edge of edges) {
      const siblings = this.#edges.get(edge.parent_id);
      if (siblings === undefined) this.#edges.set(edge.parent_id, [edge]);
      else siblings.push(edge);
    }
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
      if (flags === null || flags & FLAG.hasChildren) this.#effects.queueCascade(cascadeEntryOf(parent));
    }
    return changed;
  }

  *#linksFrom(parents: readonly ParentJob[]): Generator<Link<RelatedJob, EdgeRow>> {
    for (const parent of parents) {
      for (const edge of this.#edges.get(parent.id) ?? []) {
        const child = this.#related.get(edge.child_id);
        if (child !== undefined) yield { parent, edge, child };
      }
    }
  }

  #apply(update: ChildUpdate<RelatedJob>): ParentJob | undefined {
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
      this.#effects.stepEnded(workflowId, { status: fate.status, continueOnFailure });
      return { id, ...parentFor(fate.status, continueOnFailure, cascadeModeOf(fate.status, false)) };
    }
    child.status = fate.kind === 'free' ? 'pending' : 'blocked';
    if (!revived) return undefined;
    this.#ends.delete(child);
    this.#effects.stepReopened(workflowId, { status: status as TerminalStatus, continueOnFailure });
    return { id, ...parentFor(null, continueOnFailure, 'reopened') };
  }

  /** Throws `StartAgain` if an edge is not what it was when it was read. */
  async write(context: Context, session: Session): Promise<void> {
    if (this.#moved.size === 0) return;
    const touched = [...this.#touched];
    const wasEnded = ({ id }: RelatedJob) => this.#endedBefore.has(id);
    const live = touched.filter((child) => !wasEnded(child));
    await this.#writeLive(context, session, live);
    await this.#writeEnded(context, session, touched.filter(wasEnded));
    for (const child of touched) this.#effects.changedJob(child.id);
    for (const { id, ended, flags } of live) if (ended && (flags ?? 0) & FLAG.holdsKey) this.#effects.freeKey(id);
    for (const { id, ended, flags, status } of live) {
      if (!ended) continue;
      this.#effects.endedByGraph(id);
      this.#effects.noteEnd({ jobId: id, flags: flags ?? 0, status: status as TerminalStatus });
    }
  }

  async #writeLive({ sql }: Context, session: Session, children: readonly RelatedJob[]): Promise<void> {
    const edges = [...this.#moved].filter(([{ state }, before]) => before !== state);
    const kept = children.filter(({ ended }) => !ended);
    const ends = children.filter(({ ended }) => ended).map((child) => ({ child, end: this.#ends.get(child) as End }));
    type Row = { moved: number; now: number; job_id: number | null; status: string; due: number };
    const rows = await session.query<Row>(sql.propagate, [
      numbers(edges.map(([{ child_id }]) => child_id)),
      numbers(edges.map(([{ parent_id }]) => parent_id)),
      edges.map(([, before]) => before),
      edges.map(([{ state }]) => state),
      numbers(kept.map(({ id }) => id)),
      ...counterColumns(kept),
      kept.map(isFree),
      numbers(kept.map(({ startTimeoutMs }) => startTimeoutMs)),
      numbers(ends.map(({ child }) => child.id)),
      ends.map(({ end }) => end.status),
      ends.map(({ end }) => end.reason),
    ]);
    if (rows[0]?.moved !== edges.length) throw new StartAgain();
    this.#effects.at(rows[0].now);
    for (const row of rows) if (row.job_id !== null) this.#effects.jobIs(row.job_id, row);
  }

  async #writeEnded(context: Context, session: Session, children: readonly RelatedJob[]): Promise<void> {
    const revived = children.filter(({ ended }) => !ended);
    if (revived.length > 0) {
      const lanes = await lanesOf(context, session, revived);
      const rows = await session.query<{ job_id: number; status: string; due: number }>(context.sql.revive, [
        numbers(revived.map(({ id }) => id)),
        numbers(lanes),
        ...counterColumns(revived),
        revived.map(isFree),
        numbers(revived.map(({ startTimeoutMs }) => startTimeoutMs)),
      ]);
      for (const row of rows) this.#effects.jobIs(row.job_id, row);
    }
    const rewritten = children.flatMap((child) => {
      const newEnd = this.#ends.get(child);
      const end = newEnd ?? this.#newReasons.get(child);
      return child.ended && end !== undefined ? [{ id: child.id, ...end, isNew: newEnd !== undefined }] : [];
    });
    if (rewritten.length === 0) return;
    await session.query(context.sql.setSkipReason, [
      numbers(rewritten.map(({ id }) => id)),
      rewritten.map(({ status }) => status),
      rewritten.map(({ reason }) => reason),
      rewritten.map(({ isNew }) => isNew),
    ]);
  }
}

function cascadeEntryOf({ id, end, cancels }: ParentJob): CascadeEntry {
  return { id, mode: end === null ? 'reopened' : cancels ? 'cancelled' : 'ended' };
}

function isFree({ status }: RelatedJob): boolean {
  return status !== 'blocked';
}

function counterColumns(children: readonly RelatedJob[]): string[] {
  return (['open', 'held', 'broken', 'missed'] as const).map((name) =>
    numbers(children.map(({ counters }) => counters[name])),
  );
}

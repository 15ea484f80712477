/**
 * Makes the out-edges of jobs agree with what the jobs are now, and judges their children by all that came to light. The
 * children are locked; all is decided here and then written at once.
 */

import { type EdgeState, meetCondition } from '../../../core/dag/conditions.ts';
import { addCounters, closing } from '../../../core/dag/edge-counters.ts';
import { verdict } from '../../../core/dag/judge.ts';
import type { Reason, TerminalStatus } from '../../../core/job.ts';
import { laneKey, laneOf } from '../../../core/lane.ts';
import { FLAG } from '../../flags.ts';
import type { Context } from '../base/context.ts';
import type { Session } from '../base/database.ts';
import { numbers } from '../base/values.ts';
import { type SpecRow, specOf } from '../reads/job-row.ts';
import { Moved, UnknownLanes } from './again.ts';
import type { EdgeRow, Kin } from './kin.ts';
import type { Herald, Tally } from './tally.ts';

/** A job whose children hear of it. */
export interface Parent {
  id: number;
  /** As its children count it; `null`: it has not ended. */
  end: TerminalStatus | null;
  /** Those who wait for it in vain are cancelled with it. */
  cancelled: boolean;
}

interface Touch {
  /** An edge that was closed is so no longer, or otherwise. */
  anew: boolean;
  cancelled: boolean;
}

interface MovedEdge extends EdgeRow {
  before: EdgeState;
}

interface End {
  status: TerminalStatus;
  reason: Reason;
}

export class Carrier {
  readonly #kin: ReadonlyMap<number, Kin>;
  readonly #before: ReadonlyMap<number, boolean>;
  readonly #edges = new Map<number, EdgeRow[]>();
  readonly #moved = new Map<EdgeRow, MovedEdge>();
  readonly #touched = new Set<Kin>();
  readonly #ends = new Map<Kin, End>();
  readonly #retold = new Map<Kin, End>();
  readonly #tally: Tally;

  /** `edges` are those that lead from parents to kin. */
  constructor(kin: ReadonlyMap<number, Kin>, edges: readonly EdgeRow[], tally: Tally) {
    this.#kin = kin;
    this.#before = new Map([...kin].map(([id, { ended }]) => [id, ended]));
    this.#tally = tally;
    for (const edge of edges) {
      const siblings = this.#edges.get(edge.parent_id);
      if (siblings === undefined) this.#edges.set(edge.parent_id, [edge]);
      else siblings.push(edge);
    }
  }

  /** Whether it is known to lead anywhere. */
  hasEdges(parentId: number): boolean {
    return this.#edges.has(parentId);
  }

  /** Answers with the children that have ended by it, or no longer have. */
  carry(parents: readonly Parent[]): Parent[] {
    const touched = new Map<Kin, Touch>();
    for (const { id, end, cancelled } of parents) {
      for (const edge of this.#edges.get(id) ?? []) {
        const child = this.#kin.get(edge.child_id);
        const state = stateOf(edge, end);
        if (child === undefined || edge.state === state || (edge.state !== 'open' && child.started)) continue;
        const touch = touched.get(child) ?? { anew: false, cancelled: false };
        touch.anew ||= edge.state !== 'open';
        touch.cancelled ||= state === 'impossible' && cancelled;
        touched.set(child, touch);
        this.#move(child, edge, state);
      }
    }
    return [...touched].flatMap(([child, touch]) => this.#judge(child, touch) ?? []);
  }

  #move(child: Kin, edge: EdgeRow, state: EdgeState): void {
    const moved = this.#moved.get(edge) ?? { ...edge, before: edge.state };
    this.#moved.set(edge, { ...moved, state });
    if (edge.state !== 'open') child.counters = addCounters(child.counters, closing(edge.condition, edge.state), -1);
    if (state !== 'open') child.counters = addCounters(child.counters, closing(edge.condition, state), 1);
    edge.state = state;
    this.#touched.add(child);
  }

  #judge(child: Kin, { anew, cancelled }: Touch): Parent | undefined {
    if (child.ended ? !anew : child.status !== 'blocked' && !anew) return undefined;
    const fate = verdict(child.counters, child.mode);
    if (typeof fate === 'object') {
      if (!child.ended) return this.#end(child, cancelled ? 'cancelled' : fate.skip);
      if (child.status === 'skipped') this.#retold.set(child, { status: 'skipped', reason: fate.skip });
      return undefined;
    }
    const { ended, status } = child;
    child.ended = false;
    child.status = fate === 'free' ? 'pending' : 'blocked';
    if (!ended) return undefined;
    this.#ends.delete(child);
    this.#tally.reopened(child.workflowId, {
      status: status as TerminalStatus,
      continueOnFailure: child.continueOnFailure,
    });
    return { id: child.id, end: null, cancelled: false };
  }

  #end(child: Kin, reason: Extract<Reason, 'cancelled' | 'upstream_failed' | 'condition'>): Parent {
    const status = reason === 'cancelled' ? 'cancelled' : 'skipped';
    child.ended = true;
    child.status = status;
    this.#ends.set(child, { status, reason });
    this.#tally.ended(child.workflowId, { status, continueOnFailure: child.continueOnFailure });
    return { id: child.id, end: status, cancelled: reason === 'cancelled' };
  }

  /** Throws `Moved` where an edge is no longer what it was when it was read. */
  async write(context: Context, session: Session): Promise<void> {
    if (this.#moved.size === 0) return;
    const wasEnded = (child: Kin) => this.#before.get(child.id) === true;
    const touched = [...this.#touched];
    await this.#writeLive(
      context,
      session,
      touched.filter((child) => !wasEnded(child)),
    );
    await this.#writeEnded(
      context,
      session,
      touched.filter((child) => wasEnded(child)),
    );
    for (const child of touched) {
      this.#tally.changed(child.id);
      if (child.ended && !wasEnded(child) && (child.flags ?? 0) & FLAG.holdsKey) this.#tally.freeKey(child.id);
    }
  }

  async #writeLive({ sql }: Context, session: Session, children: readonly Kin[]): Promise<void> {
    const edges = [...this.#moved.values()].filter(({ before, state }) => before !== state);
    const kept = children.filter(({ ended }) => !ended);
    const ends = children.filter(({ ended }) => ended).map((child) => ({ child, end: this.#ends.get(child) as End }));
    type Row = { moved: number; now: number; job_id: number | null; status: string; due: number };
    const rows = await session.query<Row>(sql.carry, [
      numbers(edges.map(({ child_id }) => child_id)),
      numbers(edges.map(({ parent_id }) => parent_id)),
      edges.map(({ before }) => before),
      edges.map(({ state }) => state),
      numbers(kept.map(({ id }) => id)),
      ...counterColumns(kept),
      kept.map(isFree),
      numbers(kept.map(({ startTimeoutMs }) => startTimeoutMs)),
      numbers(ends.map(({ child }) => child.id)),
      ends.map(({ end }) => end.status),
      ends.map(({ end }) => end.reason),
    ]);
    if (rows[0]?.moved !== edges.length) throw new Moved();
    this.#tally.at(rows[0].now);
    for (const row of rows) if (row.job_id !== null) this.#tally.stands(row.job_id, row);
  }

  async #writeEnded(context: Context, session: Session, children: readonly Kin[]): Promise<void> {
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
      for (const row of rows) this.#tally.stands(row.job_id, row);
    }
    const told = children.flatMap((child) => {
      const anew = this.#ends.get(child);
      const end = anew ?? this.#retold.get(child);
      return child.ended && end !== undefined ? [{ id: child.id, ...end, anew: anew !== undefined }] : [];
    });
    if (told.length === 0) return;
    await session.query(context.sql.retell, [
      numbers(told.map(({ id }) => id)),
      told.map(({ status }) => status),
      told.map(({ reason }) => reason),
      told.map(({ anew }) => anew),
    ]);
  }
}

/** For those whose own children are still to hear of it. */
export function heraldOf({ id, end, cancelled }: Parent): Herald {
  return { id, mode: end === null ? 'reopened' : cancelled ? 'cancelled' : 'ended' };
}

/** How the edge is to stand by what its parent is now. */
export function stateOf({ condition }: Pick<EdgeRow, 'condition'>, end: TerminalStatus | null): EdgeState {
  return end === null ? 'open' : meetCondition(condition, end);
}

/** The lanes of jobs that wait again. */
export async function lanesOf(
  { sql, lanes }: Context,
  session: Session,
  jobs: readonly { id: number }[],
): Promise<number[]> {
  const rows = await session.query<SpecRow & { id: number }>(sql.specs, [numbers(jobs.map(({ id }) => id))]);
  const keys = new Map(rows.map((row) => [row.id, laneKey(laneOf(specOf(row)))]));
  const unknown = [...keys.values()].filter((key) => lanes.idOf(key) === undefined);
  if (unknown.length > 0) throw new UnknownLanes(unknown);
  return jobs.map(({ id }) => lanes.idOf(keys.get(id) as string) as number);
}

function isFree({ status }: Kin): boolean {
  return status !== 'blocked';
}

function counterColumns(children: readonly Kin[]): string[] {
  return (['open', 'held', 'broken', 'missed'] as const).map((name) =>
    numbers(children.map(({ counters }) => counters[name])),
  );
}

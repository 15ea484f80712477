/** What the ends and retries of a transaction mean for children, groups and workflows, in that same transaction. */

import { countedEnd } from '../../../core/dag/conditions.ts';
import type { TerminalStatus } from '../../../core/job.ts';
import { FLAG, LINKED } from '../../flags.ts';
import type { Context } from '../base/context.ts';
import { numbers } from '../base/values.ts';
import { Carrier, heraldOf, type Parent, stateOf } from './carrier.ts';
import { endItems, type ItemEnd, reopenItems } from './groups.ts';
import { type EdgeRow, type Kin, lockKin } from './kin.ts';
import type { Belonging } from './linked-claims.ts';
import type { Transaction } from './transaction.ts';

/** A job that has just ended; it was locked before. */
export interface Ended {
  jobId: number;
  /** As they were. */
  flags: number;
  status: TerminalStatus;
  /** A cancellation that is not to reach those who wait for it. */
  quiet: boolean;
}

interface KinRow {
  id: number;
  workflow_id: number | null;
  group_id: number | null;
  continues: boolean;
  pending: boolean;
}

/** A job that has just ended well, with all that is to be known of it. */
export interface Done extends Belonging {
  jobId: number;
  flags: number;
}

/** What is known of such jobs together. */
export interface Concluded {
  /** Some of their children have not heard of it. */
  tellsChildren: boolean;
  /** These have, from all of them. */
  told: ReadonlySet<number>;
  /** Workflows whose rows count these ends already. */
  counted: ReadonlySet<number>;
}

/** A job may end and be retried in one transaction: its children hear only what it is in the end. */
export class Conclusion {
  readonly #context: Context;
  readonly #transaction: Transaction;
  readonly #parents = new Map<number, Parent>();
  readonly #items: { ended: boolean; items: ItemEnd[] }[] = [];
  readonly #pending: number[] = [];
  #told: ReadonlySet<number> = new Set();

  constructor(context: Context, transaction: Transaction) {
    this.#context = context;
    this.#transaction = transaction;
  }

  async ended(ended: readonly Ended[]): Promise<void> {
    const { session, tally } = this.#transaction;
    for (const job of ended) {
      if (job.flags & FLAG.holdsKey) tally.freeKey(job.jobId);
      tally.note(job);
    }
    const linked = new Map(ended.filter(({ flags }) => flags & LINKED).map((job) => [job.jobId, job]));
    if (linked.size === 0) return;
    const rows = await session.query<KinRow>(this.#context.sql.kin, [numbers([...linked.keys()])]);
    const items: ItemEnd[] = [];
    for (const { id, workflow_id, group_id, continues, pending } of rows) {
      const { status, flags, quiet } = linked.get(id) as Ended;
      const end = { status, continueOnFailure: continues };
      if (group_id === null) tally.ended(workflow_id, end);
      else items.push({ ...end, groupId: group_id });
      if (pending) this.#pending.push(id);
      if (!(flags & FLAG.hasChildren)) continue;
      const cancelled = status === 'cancelled' && !quiet;
      this.#parents.set(id, { id, end: countedEnd(status, continues), cancelled });
    }
    if (items.length > 0) this.#items.push({ ended: true, items });
  }

  /** Once in a transaction, and alone: whatever else ends in it is not among what the children were told. */
  done(jobs: readonly Done[], { tellsChildren, told, counted }: Concluded): void {
    const { tally } = this.#transaction;
    this.#told = told;
    const end = { status: 'done', continueOnFailure: false } as const;
    const items: ItemEnd[] = [];
    for (const { jobId, flags, workflowId, groupId } of jobs) {
      if (flags & FLAG.holdsKey) tally.freeKey(jobId);
      tally.note({ jobId, flags, status: 'done' });
      if (groupId !== null) items.push({ ...end, groupId });
      else if (workflowId === null || !counted.has(workflowId)) tally.ended(workflowId, end);
      if (tellsChildren && flags & FLAG.hasChildren) {
        this.#parents.set(jobId, { id: jobId, end: 'done', cancelled: false });
      }
    }
    if (items.length > 0) this.#items.push({ ended: true, items });
  }

  /** `jobs` are as they were; their groups are locked. */
  reopened(jobs: readonly (Kin & { hasChildren: boolean })[]): void {
    const { tally } = this.#transaction;
    const items: ItemEnd[] = [];
    for (const { id, status, workflowId, groupId, continueOnFailure, hasChildren } of jobs) {
      const end = { status: status as TerminalStatus, continueOnFailure };
      if (groupId === null) tally.reopened(workflowId, end);
      else items.push({ ...end, groupId });
      if (!hasChildren) continue;
      this.#parents.set(id, { id, end: null, cancelled: false });
      this.#pending.push(id);
    }
    if (items.length > 0) this.#items.push({ ended: false, items });
  }

  async write(): Promise<void> {
    await this.#carry();
    for (const { ended, items } of this.#items)
      await (ended ? endItems : reopenItems)(this.#context, this.#transaction, items);
    if (this.#pending.length === 0) return;
    await this.#transaction.session.query(this.#context.sql.dropCascade, [numbers(this.#pending)]);
  }

  /** Direct children; what becomes of theirs is left to the cascade. Groups are locked on the way, where that is their turn. */
  async #carry(): Promise<void> {
    const { session, tally } = this.#transaction;
    const parents = [...this.#parents.values()];
    const groups = [...new Set(this.#items.flatMap(({ items }) => items.map(({ groupId }) => groupId)))];
    const edges =
      parents.length === 0
        ? []
        : await session.query<EdgeRow>(this.#context.sql.edgesFrom, [numbers(parents.map(({ id }) => id))]);
    const stale = edges.filter((edge) => {
      if (this.#told.has(edge.child_id)) return false;
      return edge.state !== stateOf(edge, this.#parents.get(edge.parent_id)?.end ?? null);
    });
    const children = [...new Set(stale.map(({ child_id }) => child_id))];
    const wanted = { ids: children, groupIds: groups };
    const { kin } = await lockKin(this.#context, this.#transaction, wanted);
    const carrier = new Carrier(kin, stale, tally);
    const changed = carrier.carry(parents);
    await carrier.write(this.#context, session);
    for (const parent of changed) {
      const { flags } = kin.get(parent.id) as Kin;
      if (flags === null || flags & FLAG.hasChildren) tally.queue(heraldOf(parent));
    }
  }
}

/** What the ends and retries of a transaction mean for children, groups and workflows, in that same transaction. */

import { countedEnd } from '../../../core/dag/conditions.ts';
import type { TerminalStatus } from '../../../core/job.ts';
import type { Context } from '../base/context.ts';
import { FLAG, LINKED } from '../base/flags.ts';
import { numbers } from '../base/values.ts';
import { endItems, type ItemEnd, reopenItems } from './groups.ts';
import type { JobScope } from './linked-claims.ts';
import { cascadeEntryOf, type Parent, Propagation, stateOf } from './propagate.ts';
import { type EdgeRow, lockRelatedJobs, type RelatedJob } from './related-jobs.ts';
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

interface RelatedRow {
  id: number;
  workflow_id: number | null;
  group_id: number | null;
  continues: boolean;
  pending: boolean;
}

/** A job that has just ended well, with all that is to be known of it. */
export interface Done extends JobScope {
  jobId: number;
  flags: number;
}

/** How far `end_linked` has propagated the successes of a batch. */
export interface Propagated {
  /** Some children were left out. */
  incomplete: boolean;
  /** Children that were updated for all of these parents. */
  children: ReadonlySet<number>;
  /** Workflows whose counts were updated. */
  counted: ReadonlySet<number>;
}

/** A job may end and be retried in one transaction: its children hear only what it is in the end. */
export class GraphUpdate {
  readonly #context: Context;
  readonly #transaction: Transaction;
  readonly #parents = new Map<number, Parent>();
  readonly #items: { ended: boolean; items: ItemEnd[] }[] = [];
  readonly #pending: number[] = [];
  #propagated: ReadonlySet<number> = new Set();

  constructor(context: Context, transaction: Transaction) {
    this.#context = context;
    this.#transaction = transaction;
  }

  async ended(ended: readonly Ended[]): Promise<void> {
    const { session, effects } = this.#transaction;
    for (const job of ended) {
      if (job.flags & FLAG.holdsKey) effects.freeKey(job.jobId);
      effects.noteEnd(job);
    }
    const linked = new Map(ended.filter(({ flags }) => flags & LINKED).map((job) => [job.jobId, job]));
    if (linked.size === 0) return;
    const rows = await session.query<RelatedRow>(this.#context.sql.scopes, [numbers([...linked.keys()])]);
    const items: ItemEnd[] = [];
    for (const { id, workflow_id, group_id, continues, pending } of rows) {
      const { status, flags, quiet } = linked.get(id) as Ended;
      const end = { status, continueOnFailure: continues };
      if (group_id === null) effects.stepEnded(workflow_id, end);
      else items.push({ ...end, groupId: group_id });
      if (pending) this.#pending.push(id);
      if (!(flags & FLAG.hasChildren)) continue;
      const cancelled = status === 'cancelled' && !quiet;
      this.#parents.set(id, { id, end: countedEnd(status, continues), cancelled });
    }
    if (items.length > 0) this.#items.push({ ended: true, items });
  }

  /** Once in a transaction, and alone: whatever else ends in it is not among what the children were told. */
  done(jobs: readonly Done[], { incomplete, children, counted }: Propagated): void {
    const { effects } = this.#transaction;
    this.#propagated = children;
    const end = { status: 'done', continueOnFailure: false } as const;
    const items: ItemEnd[] = [];
    for (const { jobId, flags, workflowId, groupId } of jobs) {
      if (flags & FLAG.holdsKey) effects.freeKey(jobId);
      effects.noteEnd({ jobId, flags, status: 'done' });
      if (groupId !== null) items.push({ ...end, groupId });
      else if (workflowId === null || !counted.has(workflowId)) effects.stepEnded(workflowId, end);
      if (incomplete && flags & FLAG.hasChildren) {
        this.#parents.set(jobId, { id: jobId, end: 'done', cancelled: false });
      }
    }
    if (items.length > 0) this.#items.push({ ended: true, items });
  }

  /** `jobs` are as they were; their groups are locked. */
  reopened(jobs: readonly (RelatedJob & { hasChildren: boolean })[]): void {
    const { effects } = this.#transaction;
    const items: ItemEnd[] = [];
    for (const { id, status, workflowId, groupId, continueOnFailure, hasChildren } of jobs) {
      const end = { status: status as TerminalStatus, continueOnFailure };
      if (groupId === null) effects.stepReopened(workflowId, end);
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
    const { session, effects } = this.#transaction;
    const parents = [...this.#parents.values()];
    const groups = [...new Set(this.#items.flatMap(({ items }) => items.map(({ groupId }) => groupId)))];
    const edges =
      parents.length === 0
        ? []
        : await session.query<EdgeRow>(this.#context.sql.edgesFrom, [numbers(parents.map(({ id }) => id))]);
    const stale = edges.filter((edge) => {
      if (this.#propagated.has(edge.child_id)) return false;
      return edge.state !== stateOf(edge, this.#parents.get(edge.parent_id)?.end ?? null);
    });
    const children = [...new Set(stale.map(({ child_id }) => child_id))];
    const wanted = { ids: children, groupIds: groups };
    const { related } = await lockRelatedJobs(this.#context, this.#transaction, wanted);
    const propagation = new Propagation(related, stale, effects);
    const changed = propagation.carry(parents);
    await propagation.write(this.#context, session);
    for (const parent of changed) {
      const { flags } = related.get(parent.id) as RelatedJob;
      if (flags === null || flags & FLAG.hasChildren) effects.queueCascade(cascadeEntryOf(parent));
    }
  }
}

/** Updates children, groups and workflows for the ends and reopenings of a transaction, in the same transaction. */

import { edgeStateFor } from '../../../core/dag/conditions.ts';
import { cascadeModeOf, parentFor } from '../../../core/dag/propagate.ts';
import { itemEnd } from '../../../core/dag/workflow-status.ts';
import type { TerminalStatus } from '../../../core/job.ts';
import { FLAG, LINKED } from '../../flags.ts';
import type { Context } from '../base/context.ts';
import { numbers } from '../base/values.ts';
import { endItems, type ItemEnd, reopenItems } from './groups.ts';
import type { JobScope } from './linked-claims.ts';
import { type ParentJob, Propagation } from './propagate.ts';
import { type EdgeRow, lockRelatedJobs, type RelatedJob } from './related-jobs.ts';
import type { Transaction } from './transaction.ts';

/** A job that has just ended; it was locked before. */
export interface EndedJob {
  jobId: number;
  /** The flags of its live row. */
  flags: number;
  status: TerminalStatus;
  /** Its children are not cancelled with it. */
  keepChildren: boolean;
}

interface ScopeRow {
  id: number;
  workflow_id: number | null;
  group_id: number | null;
  continues: boolean;
  pending: boolean;
}

/** A job that has just succeeded. */
export interface SucceededJob extends JobScope {
  jobId: number;
  flags: number;
}

/** How far `end_linked` has propagated the successes of a batch. */
interface Propagated {
  /** Some children were left out. */
  incomplete: boolean;
  /** Children that were updated for all of these parents. */
  children: ReadonlySet<number>;
  /** Workflows whose counts were updated. */
  counted: ReadonlySet<number>;
}

/** A job may end and be retried in one transaction: its children see only what it is in the end. */
export class GraphUpdate {
  readonly #context: Context;
  readonly #transaction: Transaction;
  readonly #parents = new Map<number, ParentJob>();
  readonly #items: { ended: boolean; items: ItemEnd[] }[] = [];
  /** Jobs that are in the table `cascade`. */
  readonly #pending: number[] = [];
  #propagated: ReadonlySet<number> = new Set();

  constructor(context: Context, transaction: Transaction) {
    this.#context = context;
    this.#transaction = transaction;
  }

  async ended(ended: readonly EndedJob[]): Promise<void> {
    const { session, effects } = this.#transaction;
    for (const job of ended) {
      if (job.flags & FLAG.holdsKey) effects.freeKey(job.jobId);
      effects.attemptEnded(job.jobId, { flags: job.flags, returned: false });
      effects.noteEnd(job);
    }
    const linked = new Map(ended.filter(({ flags }) => flags & LINKED).map((job) => [job.jobId, job]));
    if (linked.size === 0) return;
    const rows = await session.query<ScopeRow>(this.#context.sql.scopes, [numbers([...linked.keys()])]);
    const items: ItemEnd[] = [];
    for (const { id, workflow_id, group_id, continues, pending } of rows) {
      const { status, flags, keepChildren } = linked.get(id) as EndedJob;
      if (group_id === null) effects.stepEnded(workflow_id, { status, continueOnFailure: continues });
      else items.push({ ...itemEnd(status), groupId: group_id });
      if (pending) this.#pending.push(id);
      if (!(flags & FLAG.hasChildren)) continue;
      this.#parents.set(id, { id, ...parentFor(status, continues, cascadeModeOf(status, keepChildren)) });
    }
    if (items.length > 0) this.#items.push({ ended: true, items });
  }

  /** Called once, and alone: other ends of the same transaction would not be among those propagated. */
  succeeded(jobs: readonly SucceededJob[], { incomplete, children, counted }: Propagated): void {
    const { effects } = this.#transaction;
    this.#propagated = children;
    const end = { status: 'done', continueOnFailure: false } as const;
    const items: ItemEnd[] = [];
    for (const { jobId, flags, workflowId, groupId } of jobs) {
      if (flags & FLAG.holdsKey) effects.freeKey(jobId);
      effects.attemptEnded(jobId, { flags, returned: false });
      effects.noteEnd({ jobId, flags, status: 'done' });
      if (groupId !== null) items.push({ ...end, groupId });
      else if (workflowId === null || !counted.has(workflowId)) effects.stepEnded(workflowId, end);
      if (incomplete && flags & FLAG.hasChildren) {
        this.#parents.set(jobId, { id: jobId, ...parentFor('done', false, 'ended') });
      }
    }
    if (items.length > 0) this.#items.push({ ended: true, items });
  }

  /** `jobs` are as they were before; their groups are locked. */
  reopened(jobs: readonly (RelatedJob & { hasChildren: boolean })[]): void {
    const { effects } = this.#transaction;
    const items: ItemEnd[] = [];
    for (const { id, status, workflowId, groupId, continueOnFailure, hasChildren } of jobs) {
      const ended = status as TerminalStatus;
      if (groupId === null) effects.stepReopened(workflowId, { status: ended, continueOnFailure });
      else items.push({ ...itemEnd(ended), groupId });
      if (!hasChildren) continue;
      this.#parents.set(id, { id, ...parentFor(null, continueOnFailure, 'reopened') });
      this.#pending.push(id);
    }
    if (items.length > 0) this.#items.push({ ended: false, items });
  }

  async write(): Promise<void> {
    await this.#propagate();
    for (const { ended, items } of this.#items)
      await (ended ? endItems : reopenItems)(this.#context, this.#transaction, items);
    if (this.#pending.length === 0) return;
    await this.#transaction.session.query(this.#context.sql.dropCascade, [numbers(this.#pending)]);
  }

  /** Updates direct children; the next level is left to the cascade. Locks groups on the way. */
  async #propagate(): Promise<void> {
    const { session, effects } = this.#transaction;
    const parents = [...this.#parents.values()];
    const groups = [...new Set(this.#items.flatMap(({ items }) => items.map(({ groupId }) => groupId)))];
    const edges =
      parents.length === 0
        ? []
        : await session.query<EdgeRow>(this.#context.sql.edgesFrom, [numbers(parents.map(({ id }) => id))]);
    const stale = edges.filter(({ child_id, parent_id, condition, state }) => {
      if (this.#propagated.has(child_id)) return false;
      return state !== edgeStateFor(condition, this.#parents.get(parent_id)?.end ?? null);
    });
    const children = [...new Set(stale.map(({ child_id }) => child_id))];
    const wanted = { ids: children, groupIds: groups };
    const { related } = await lockRelatedJobs(this.#context, this.#transaction, wanted);
    const propagation = new Propagation(related, stale, effects);
    propagation.propagateFrom(parents);
    await propagation.write(this.#context, session);
  }
}

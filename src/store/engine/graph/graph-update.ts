/**
 * The effects of a transaction beside the jobs that it changes: children, groups, counts of workflows, keys to release, turns, meters,
 * cascade entries and notices. They are written at its end, in the order of locks, see 'Lock order' in docs/architecture.md.
 */

import { edgeStateFor } from '../../../core/dag/conditions.ts';
import { type CascadeMode, cascadeModeOf, parentFor } from '../../../core/dag/propagate.ts';
import { itemEnd, type StepEnd, WorkflowChanges } from '../../../core/dag/workflow-status.ts';
import type { TerminalStatus } from '../../../core/job.ts';
import { FLAG, LINKED, noticeFlag } from '../../flags.ts';
import type { Changes } from '../../hint.ts';
import { columns } from '../../sql/columns.ts';
import { anyFrom, anyOf, locking, sql } from '../../sql/sql.ts';
import type { Tx } from '../../sql/tx.ts';
import { addEndNotices, type EndNotice } from '../notices.ts';
import { continues } from '../standing.ts';
import { giveTurnsTo } from '../turns.ts';
import { queueCascade } from './cascade.ts';
import { edge } from './edges.ts';
import { endItems, type ItemEnd, reopenItems } from './groups.ts';
import { type ParentJob, Propagation } from './propagation.ts';
import { lockRelatedJobs, type RelatedJob } from './related-jobs.ts';
import { addToWorkflows } from './workflow-counts.ts';

/** The workflow and the group of a job. They never change. */
export interface JobScope {
  workflowId: number | null;
  groupId: number | null;
}

/** A job that has just ended; it was locked before. */
export interface EndedJob {
  jobId: number;
  /** The flags of its live row. */
  flags: number;
  status: TerminalStatus;
}

interface ScopeRow extends JobScope {
  id: number;
  continueOnFailure: boolean;
  pending: boolean;
}

const scopeRow = columns<ScopeRow>({
  id: 'bigint',
  workflowId: 'bigint',
  groupId: 'bigint',
  continueOnFailure: 'bool',
  pending: 'bool',
});

/** How far the successes of a batch were propagated when they were written. */
interface Propagated {
  /** Some children were left out. */
  incomplete: boolean;
  /** Children that were updated for all of these parents. */
  children: ReadonlySet<number>;
  /** Workflows whose counts were updated. */
  counted?: ReadonlySet<number>;
}

/** A job may end and be retried in one transaction: its children see only what it is in the end. */
export class GraphUpdate {
  readonly #effects: Changes;
  #workflows = new WorkflowChanges();
  readonly #cascade = new Map<number, CascadeMode>();
  #ended: EndedJob[] = [];
  readonly #parents = new Map<number, ParentJob>();
  #items: { ended: boolean; items: ItemEnd[] }[] = [];
  /** Jobs that are in the table `cascade`. */
  #pending: number[] = [];
  #propagated: ReadonlySet<number> = new Set();
  #keyed: number[] = [];
  #limited: number[] = [];
  #returned: number[] = [];
  #notices: EndNotice[] = [];
  readonly #claimable = new Set<number>();
  /** Queues to which jobs with a fair key were added. */
  readonly fairQueues = new Set<string>();
  #at = 0;

  constructor(effects: Changes) {
    this.#effects = effects;
  }

  /** Sets the instant of these changes; the latest one counts. */
  at(instant: number): void {
    this.#at = Math.max(this.#at, instant);
  }

  /** `workflowId` is `null` for a job that is not a step. */
  stepEnded(workflowId: number | null, end: StepEnd): void {
    this.#workflows.end(workflowId, end);
  }

  stepReopened(workflowId: number | null, end: StepEnd): void {
    this.#workflows.reopen(workflowId, end);
  }

  /** Leaves the children of a job to a later call. */
  queueCascade(jobId: number, mode: CascadeMode): void {
    this.#cascade.set(jobId, mode);
  }

  freeKey(jobId: number): void {
    this.#keyed.push(jobId);
  }

  /** An attempt has ended: jobs that wait for its limits may start, and for its rates if it was returned unstarted. */
  attemptEnded(jobId: number, { flags, returned }: { flags: number; returned: boolean }): void {
    if (flags & FLAG.hasLimits) this.#limited.push(jobId);
    if (returned) this.#returned.push(jobId);
    if (flags & FLAG.hasLimits || returned) this.#effects.madeRoom();
  }

  /** A job has ended without an attempt. */
  waitingEnded(job: EndedJob): void {
    if (job.flags & FLAG.holdsKey) this.freeKey(job.jobId);
    this.#noteEnd(job);
  }

  /** Gives the job a turn where its queue is fair and it can be claimed now. */
  claimable(jobId: number): void {
    this.#claimable.add(jobId);
  }

  /** Records the hint for a job with this status. A running job is a group that was freed. */
  jobIs(jobId: number, { status, due }: { status: string; due: number }): void {
    if (status === 'pending') {
      this.#effects.madeWork();
      this.claimable(jobId);
    } else if (status === 'running') this.#effects.changedGraph();
    else if (status === 'scheduled') this.#effects.willBeDue(due);
  }

  /** A job waits for its due time only, or runs if it is a group. */
  freed({ id, flags, due }: Pick<RelatedJob, 'id' | 'flags' | 'due'>, now: number): void {
    const isGroup = ((flags ?? 0) & FLAG.group) !== 0;
    this.jobIs(id, { status: isGroup ? 'running' : due > now ? 'scheduled' : 'pending', due });
  }

  ended(jobs: readonly EndedJob[]): void {
    for (const job of jobs) {
      this.#attemptOver(job);
      if (job.flags & LINKED) this.#ended.push(job);
    }
  }

  /** Called once, and alone: other ends of the same transaction would not be among those propagated. */
  succeeded(
    jobs: readonly (JobScope & Pick<EndedJob, 'jobId' | 'flags'>)[],
    { incomplete, children, counted = new Set() }: Propagated,
  ): void {
    this.#propagated = children;
    const end = { status: 'done', continueOnFailure: false } as const;
    const items: ItemEnd[] = [];
    for (const { jobId, flags, workflowId, groupId } of jobs) {
      this.#attemptOver({ jobId, flags, status: 'done' });
      if (groupId !== null) items.push({ ...end, groupId });
      else if (workflowId === null || !counted.has(workflowId)) this.stepEnded(workflowId, end);
      if (incomplete && flags & FLAG.hasChildren) {
        this.#parents.set(jobId, { id: jobId, ...parentFor('done', false, 'ended') });
      }
    }
    if (items.length > 0) this.#items.push({ ended: true, items });
  }

  /** `jobs` are as they were before; their groups are locked. */
  reopened(jobs: readonly (RelatedJob & { hasChildren: boolean })[]): void {
    const items: ItemEnd[] = [];
    for (const { id, status, workflowId, groupId, continueOnFailure, hasChildren } of jobs) {
      const ended = status as TerminalStatus;
      if (groupId === null) this.stepReopened(workflowId, { status: ended, continueOnFailure });
      else items.push({ ...itemEnd(ended), groupId });
      if (!hasChildren) continue;
      this.#parents.set(id, { id, ...parentFor(null, continueOnFailure, 'reopened') });
      this.#pending.push(id);
    }
    if (items.length > 0) this.#items.push({ ended: false, items });
  }

  #attemptOver(job: EndedJob): void {
    if (job.flags & FLAG.holdsKey) this.freeKey(job.jobId);
    this.attemptEnded(job.jobId, { flags: job.flags, returned: false });
    this.#noteEnd(job);
  }

  #noteEnd({ jobId, flags, status }: EndedJob): void {
    if (flags & noticeFlag(status)) this.#notices.push({ jobId, workflowId: null, status });
  }

  get isEmpty(): boolean {
    const some = [this.#ended, this.#items, this.#pending, this.#keyed, this.#limited, this.#returned, this.#notices];
    if (this.#claimable.size + some.reduce((sum, { length }) => sum + length, 0) > 0) return false;
    return this.#parents.size + this.#cascade.size + this.fairQueues.size + this.#workflows.ids.length === 0;
  }

  /** Writes what was recorded since the last call. */
  async write(tx: Tx): Promise<void> {
    if (this.isEmpty) return;
    await this.#countEnds(tx);
    await this.#propagate(tx);
    for (const { ended, items } of this.#items.splice(0)) await (ended ? endItems : reopenItems)(tx, items);
    const pending = this.#pending.splice(0);
    if (pending.length > 0) await tx.run(sql`delete from cascade where job_id ${anyOf(pending)}`);
    if (this.#cascade.size > 0 && (await queueCascade(tx, this.#cascade))) this.#effects.changedGraph();
    this.#cascade.clear();
    const notices = [...this.#notices.splice(0), ...(await addToWorkflows(tx, this.#workflows, this.#at))];
    this.#workflows = new WorkflowChanges();
    if (notices.length > 0) await addEndNotices(tx, notices);
    await this.#freeKeys(tx);
    await giveTurnsTo(tx, [...this.#claimable], [...this.fairQueues]);
    this.#claimable.clear();
    const [limited, returned] = [this.#limited.splice(0), this.#returned.splice(0)];
    if (limited.length + returned.length > 0) await tx.releaseMeters({ limited, returned });
  }

  async #countEnds(tx: Tx): Promise<void> {
    const ended = new Map(this.#ended.splice(0).map((job) => [job.jobId, job]));
    if (ended.size === 0) return;
    const rows = await tx.all(
      scopeRow,
      sql`select j.id, j.workflow_id, j.group_id, ${continues} as continue_on_failure, c.job_id is not null as pending
        from job j left join cascade c on c.job_id = j.id where j.id ${anyOf([...ended.keys()])}`,
    );
    const items: ItemEnd[] = [];
    for (const { id, workflowId, groupId, continueOnFailure, pending } of rows) {
      const { status, flags } = ended.get(id) as EndedJob;
      if (groupId === null) this.stepEnded(workflowId, { status, continueOnFailure });
      else items.push({ ...itemEnd(status), groupId });
      if (pending) this.#pending.push(id);
      if (!(flags & FLAG.hasChildren)) continue;
      const mode = cascadeModeOf(status, (flags & FLAG.keepChildren) !== 0);
      this.#parents.set(id, { id, ...parentFor(status, continueOnFailure, mode) });
    }
    if (items.length > 0) this.#items.unshift({ ended: true, items });
  }

  /** Updates direct children; the next level is left to the cascade. Locks groups on the way. */
  async #propagate(tx: Tx): Promise<void> {
    const parents = new Map(this.#parents);
    this.#parents.clear();
    const groupIds = [...new Set(this.#items.flatMap(({ items }) => items.map(({ groupId }) => groupId)))];
    if (parents.size + groupIds.length === 0) return;
    const edges =
      parents.size === 0
        ? []
        : await tx.all(
            edge,
            sql`select ${edge} from edge where parent_id ${anyOf([...parents.keys()])} order by parent_id, child_id`,
          );
    const stale = edges.filter(({ childId, parentId, condition, state }) => {
      if (this.#propagated.has(childId)) return false;
      return state !== edgeStateFor(condition, parents.get(parentId)?.end ?? null);
    });
    const ids = [...new Set(stale.map(({ childId }) => childId))];
    const propagation = new Propagation(tx, await lockRelatedJobs(tx, { ids, groupIds }), stale);
    propagation.propagateFrom([...parents.values()]);
    await propagation.write();
  }

  async #freeKeys(tx: Tx): Promise<void> {
    const jobs = this.#keyed.splice(0);
    if (jobs.length === 0) return;
    const keys = sql`select key from unique_key where job_id ${anyOf(jobs)} and hold <> 'time'
      order by key ${locking('collate "C" for update')}`;
    await tx.run(sql`delete from unique_key where key ${anyFrom(keys)}`);
  }
}

/**
 * Updates other jobs for the ends and reopenings of one call: groups and counts at once, children when the update is written,
 * at the end of the call.
 */

import { type CascadeMode, cascadeModeOf } from '../../../core/dag/propagate.ts';
import { itemEnd, type StepEnd, WorkflowChanges } from '../../../core/dag/workflow-status.ts';
import type { TerminalStatus } from '../../../core/job.ts';
import { FLAG } from '../../flags.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';
import { noteEnds, noteWorkflowEnd } from '../cluster/notices.ts';
import { giveTurnsTo } from '../jobs/turns.ts';
import { queueCascade } from './cascade.ts';
import { endItems, reopenItem } from './groups.ts';
import { propagateFrom } from './propagate.ts';
import { propagateSuccess } from './propagate-success.ts';
import { countsOf, type WorkflowRow } from './workflow-row.ts';

/** A job whose status has just changed: the flags of its live row, and how it ended, or had ended. */
interface ChangedJob {
  jobId: number;
  flags: number;
  status: TerminalStatus;
}

export class GraphUpdate {
  readonly #workflows = new WorkflowChanges();
  readonly #claimable = new Set<number>();
  /** Jobs whose children are updated by this call. */
  readonly #parents = new Map<number, CascadeMode>();
  /** Jobs with children that succeeded. */
  readonly #successes: number[] = [];
  /** Jobs whose children are left to the cascade. */
  #queued = new Map<number, CascadeMode>();

  /** A job waits for nothing but a worker. */
  claimable(jobId: number): void {
    this.#claimable.add(jobId);
  }

  ended(context: Context, jobs: readonly ChangedJob[]): void {
    this.#countEnds(context, jobs);
    for (const job of jobs) if (job.flags & FLAG.hasChildren) this.#parents.set(job.jobId, modeOf(job));
  }

  /** Jobs ended with success, and their final rows are marked as propagated. */
  succeeded(context: Context, jobs: readonly ChangedJob[]): void {
    this.#countEnds(context, jobs);
    for (const { jobId, flags } of jobs) if (flags & FLAG.hasChildren) this.#successes.push(jobId);
  }

  /** The call ended a job that it was not about. Its children are left to the cascade. */
  endedByCascade(context: Context, job: ChangedJob): void {
    this.#countEnds(context, [job]);
    if (job.flags & FLAG.hasChildren) this.#queued.set(job.jobId, modeOf(job));
  }

  reopened(context: Context, job: ChangedJob): void {
    this.#countReopening(context, job);
    if (job.flags & FLAG.hasChildren) this.#parents.set(job.jobId, 'reopened');
  }

  /** The call reopened a job that it was not about. Its children are left to the cascade. */
  reopenedByCascade(context: Context, job: ChangedJob): void {
    this.#countReopening(context, job);
    if (job.flags & FLAG.hasChildren) this.#queued.set(job.jobId, 'reopened');
  }

  /** Takes the jobs that would be queued for the cascade. */
  takeQueued(): Map<number, CascadeMode> {
    const queued = this.#queued;
    this.#queued = new Map();
    return queued;
  }

  write(context: Context): void {
    const propagated = this.#successes.length > 0 ? propagateSuccess(context, this.#successes) : null;
    if (propagated?.incomplete) for (const jobId of this.#successes) this.#parents.set(jobId, 'ended');
    if (this.#parents.size > 0) propagateFrom(context, this.#parents, propagated?.children);
    if (this.#queued.size > 0) queueCascade(context, this.#queued);
    this.#writeWorkflows(context);
    if (this.#claimable.size > 0) giveTurnsTo(context, [...this.#claimable]);
  }

  #countEnds(context: Context, jobs: readonly ChangedJob[]): void {
    noteEnds(context, jobs);
    const counted = new Map(jobs.filter(isCounted).map(({ jobId, status }) => [jobId, status]));
    if (counted.size === 0) return;
    const items = new Map<number, StepEnd[]>();
    for (const [jobId, workflowId, groupId, continues] of scopesOf(context, [...counted.keys()])) {
      const status = counted.get(jobId) as TerminalStatus;
      if (groupId === null) this.#workflows.end(workflowId, { status, continueOnFailure: continues === 1 });
      else {
        const ends = items.get(groupId);
        if (ends === undefined) items.set(groupId, [itemEnd(status)]);
        else ends.push(itemEnd(status));
      }
    }
    for (const [groupId, ends] of items) endItems(context, groupId, ends);
  }

  #countReopening(context: Context, job: ChangedJob): void {
    if (!isCounted(job)) return;
    for (const [, workflowId, groupId, continues] of scopesOf(context, [job.jobId])) {
      const { status } = job;
      if (groupId === null) this.#workflows.reopen(workflowId, { status, continueOnFailure: continues === 1 });
      else reopenItem(context, groupId, itemEnd(status));
    }
  }

  #writeWorkflows(context: Context): void {
    const { database, now } = context;
    for (const id of this.#workflows.ids) {
      const row = database.get<WorkflowRow>(sql.workflowCounts, id);
      if (row === undefined) continue;
      const after = this.#workflows.apply(id, countsOf(row), row.started_at !== null);
      const { open, fine, failed, cancelled, status } = after;
      database.run(sql.writeWorkflows, id, status, open > 0 ? null : now, open, fine, failed, cancelled);
      if (open === 0) noteWorkflowEnd(context, row, status);
    }
  }
}

/** The workflow and the group of a job. An item counts for its group, a step for its workflow. */
type ScopeRow = readonly [jobId: number, workflowId: number | null, groupId: number | null, continueOnFailure: number];

function scopesOf({ database }: Context, jobIds: readonly number[]): ScopeRow[] {
  const found = database.tuples<ScopeRow>(sql.scopes, JSON.stringify(jobIds));
  if (found.length !== jobIds.length) throw new Error(`one of the jobs ${jobIds.join(', ')} is missing`);
  return found;
}

function isCounted({ flags }: ChangedJob): boolean {
  return (flags & (FLAG.inWorkflow | FLAG.item)) !== 0;
}

function modeOf({ flags, status }: ChangedJob): CascadeMode {
  return cascadeModeOf(status, (flags & FLAG.keepChildren) !== 0);
}

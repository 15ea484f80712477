/** What the ends and reopenings of one call mean to other jobs. Groups and counts follow at once, children at the end of the call. */

import type { StepEnd } from '../../../core/dag/workflow-status.ts';
import type { TerminalStatus } from '../../../core/job.ts';
import { FLAG } from '../../flags.ts';
import type { Context } from '../base/context.ts';
import { noteEnds } from '../cluster/notices.ts';
import { giveTurnsTo } from '../jobs/turns.ts';
import { belongingsOf } from './belongings.ts';
import { type CarryMode, carry, leaveToCascade } from './carry.ts';
import { endItems, reopenItem } from './groups.ts';
import { tellOfSuccess } from './tell-of-success.ts';
import { WorkflowTally } from './workflow-tally.ts';

/** A job whose status has just changed: the flags of its live row, and how it ended, or had ended. */
export interface Moved {
  jobId: number;
  flags: number;
  status: TerminalStatus;
}

export class Aftermath {
  readonly #tally = new WorkflowTally();
  readonly #claimable = new Set<number>();
  /** Whose children hear of it in this call. */
  readonly #parents = new Map<number, CarryMode>();
  /** Likewise, and it may be good news. */
  readonly #successes: number[] = [];
  /** Whose children are left to the cascade. */
  #left = new Map<number, CarryMode>();

  /** A job waits for nothing but a worker. */
  claimable(jobId: number): void {
    this.#claimable.add(jobId);
  }

  ended(context: Context, jobs: readonly Moved[]): void {
    this.#countEnds(context, jobs);
    for (const job of jobs) if (job.flags & FLAG.hasChildren) this.#parents.set(job.jobId, modeOf(job));
  }

  /** They were stored as having told their children. */
  succeeded(context: Context, jobs: readonly Moved[]): void {
    this.#countEnds(context, jobs);
    for (const { jobId, flags } of jobs) if (flags & FLAG.hasChildren) this.#successes.push(jobId);
  }

  /** Not by the call itself, but by what it did: the job's children are left to the cascade. */
  endedBelow(context: Context, job: Moved): void {
    this.#countEnds(context, [job]);
    if (job.flags & FLAG.hasChildren) this.#left.set(job.jobId, modeOf(job));
  }

  reopened(context: Context, job: Moved): void {
    this.#countReopening(context, job);
    if (job.flags & FLAG.hasChildren) this.#parents.set(job.jobId, 'reopened');
  }

  /** Likewise. */
  reopenedBelow(context: Context, job: Moved): void {
    this.#countReopening(context, job);
    if (job.flags & FLAG.hasChildren) this.#left.set(job.jobId, 'reopened');
  }

  /** Those that would be left to the cascade, for the cascade itself. */
  takeLeft(): Map<number, CarryMode> {
    const left = this.#left;
    this.#left = new Map();
    return left;
  }

  finish(context: Context): void {
    const told = this.#successes.length > 0 ? tellOfSuccess(context, this.#successes) : null;
    if (told?.leaves) for (const jobId of this.#successes) this.#parents.set(jobId, 'ended');
    if (this.#parents.size > 0) carry(context, this.#parents, told?.children);
    if (this.#left.size > 0) leaveToCascade(context, this.#left);
    this.#tally.write(context);
    if (this.#claimable.size > 0) giveTurnsTo(context, [...this.#claimable]);
  }

  #countEnds(context: Context, jobs: readonly Moved[]): void {
    noteEnds(context, jobs);
    const counted = new Map(jobs.filter(isCounted).map(({ jobId, status }) => [jobId, status]));
    if (counted.size === 0) return;
    const items = new Map<number, StepEnd[]>();
    for (const [jobId, workflowId, groupId, continues] of belongingsOf(context, [...counted.keys()])) {
      const end = { status: counted.get(jobId) as TerminalStatus, continueOnFailure: continues === 1 };
      if (groupId === null) {
        if (workflowId !== null) this.#tally.end(workflowId, end);
        continue;
      }
      const ends = items.get(groupId);
      if (ends === undefined) items.set(groupId, [end]);
      else ends.push(end);
    }
    for (const [groupId, ends] of items) endItems(context, groupId, ends);
  }

  #countReopening(context: Context, job: Moved): void {
    if (!isCounted(job)) return;
    for (const [, workflowId, groupId, continues] of belongingsOf(context, [job.jobId])) {
      const end = { status: job.status, continueOnFailure: continues === 1 };
      if (groupId !== null) reopenItem(context, groupId, end);
      else if (workflowId !== null) this.#tally.reopen(workflowId, end);
    }
  }
}

/** An item counts for its group, a step for its workflow. */
function isCounted({ flags }: Moved): boolean {
  return (flags & (FLAG.inWorkflow | FLAG.item)) !== 0;
}

/** What was cancelled takes those with it who wait for it in vain, unless that was not wanted. */
function modeOf({ flags, status }: Moved): CarryMode {
  return status === 'cancelled' && (flags & FLAG.keepDependents) === 0 ? 'cancelled' : 'ended';
}

/** The status of a workflow, from the counts of its steps. */

import type { TerminalStatus } from '../job.ts';
import { countedEnd } from './conditions.ts';

export const WORKFLOW_STATUSES = ['pending', 'running', 'done', 'failed', 'cancelled'] as const;
export type WorkflowStatus = (typeof WORKFLOW_STATUSES)[number];

/** The counts in a workflow's row. The changes of several steps may be summed and added at once. */
export interface StepCounts {
  /** Steps that have not ended. */
  open: number;
  /** Steps that succeeded, were skipped, or failed with `continue_on_failure`. */
  fine: number;
  failed: number;
  cancelled: number;
}

/** The counts of a workflow none of whose steps has ended. */
export function openSteps(count: number): StepCounts {
  return { open: count, fine: 0, failed: 0, cancelled: 0 };
}

export interface StepEnd {
  status: TerminalStatus;
  continueOnFailure: boolean;
}

/** The counts after the end of one step. */
export function endStep(counts: StepCounts, end: StepEnd): StepCounts {
  return moveStep(counts, end, 1);
}

/** The end of an item, for the counts of its group: `continue_on_failure` is about the step as a whole, so it fails with its items. */
export function itemEnd(status: TerminalStatus): StepEnd {
  return { status, continueOnFailure: false };
}

/** The counts after an ended step was reopened. */
export function reopenStep(counts: StepCounts, end: StepEnd): StepCounts {
  return moveStep(counts, end, -1);
}

/** `started`: a step was claimed at least once. A failure outweighs a cancellation; skipped steps count as fine. */
export function workflowStatus(counts: StepCounts, started: boolean): WorkflowStatus {
  if (counts.open > 0) {
    return started || counts.fine + counts.failed + counts.cancelled > 0 ? 'running' : 'pending';
  }
  if (counts.failed > 0) return 'failed';
  return counts.cancelled > 0 ? 'cancelled' : 'done';
}

/** Ends and reopenings of steps, summed by workflow. */
export class WorkflowChanges {
  readonly #changes = new Map<number, StepCounts>();

  get ids(): number[] {
    return [...this.#changes.keys()];
  }

  /** `workflowId` is `null` for a job that is not a step. */
  end(workflowId: number | null, end: StepEnd): void {
    if (workflowId !== null) this.#changes.set(workflowId, endStep(this.#of(workflowId), end));
  }

  reopen(workflowId: number | null, end: StepEnd): void {
    if (workflowId !== null) this.#changes.set(workflowId, reopenStep(this.#of(workflowId), end));
  }

  /** Returns the counts and the status of a workflow after these changes. */
  apply(workflowId: number, before: StepCounts, started: boolean): StepCounts & { status: WorkflowStatus } {
    const change = this.#of(workflowId);
    const counts = {
      open: before.open + change.open,
      fine: before.fine + change.fine,
      failed: before.failed + change.failed,
      cancelled: before.cancelled + change.cancelled,
    };
    return { ...counts, status: workflowStatus(counts, started) };
  }

  #of(workflowId: number): StepCounts {
    return this.#changes.get(workflowId) ?? openSteps(0);
  }
}

function moveStep(counts: StepCounts, end: StepEnd, by: 1 | -1): StepCounts {
  const counted = countedEnd(end.status, end.continueOnFailure);
  const place = counted === 'failed' || counted === 'cancelled' ? counted : 'fine';
  return { ...counts, open: counts.open - by, [place]: counts[place] + by };
}

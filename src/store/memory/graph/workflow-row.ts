import type { DefinitionVersion } from '../../../core/dag/definition.ts';
import type { Workflow } from '../../../core/dag/workflow.ts';
import { endStep, reopenStep, type StepCounts, workflowStatus } from '../../../core/dag/workflow-status.ts';
import type { TerminalStatus } from '../../../core/job.ts';
import type { Notify } from '../../../core/notify.ts';
import { copyJson } from '../base/copy.ts';
import type { Entry } from '../base/entry.ts';
import type { Tables } from '../base/tables.ts';
import { noteWorkflowEnd } from '../cluster/notices.ts';

export interface WorkflowRow {
  readonly id: number;
  readonly name: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly notify: readonly Notify[];
  readonly createdAt: number;
  readonly rerunOf: number | null;
  readonly definition: DefinitionVersion | null;
  readonly submittedBy: string | null;
  /** The line of the schedule that it runs for. */
  readonly line: number | null;
  readonly total: number;
  startedAt: number | null;
  endedAt: number | null;
  counts: StepCounts;
  /** Steps and items. */
  readonly jobs: Set<Entry>;
}

export function toWorkflow(row: WorkflowRow): Workflow {
  const { jobs: _, line: _line, ...fields } = row;
  return {
    ...fields,
    params: copyJson(row.params),
    notify: copyJson(row.notify),
    counts: { ...row.counts },
    status: workflowStatus(row.counts, row.startedAt !== null),
  };
}

/** A step, or the item of one, was claimed. */
export function stepStarted(tables: Tables, entry: Entry): void {
  const row = tables.workflows.get(entry.workflowId ?? 0);
  if (row !== undefined) row.startedAt ??= tables.clock.now();
}

export function stepEnded(tables: Tables, entry: Entry, status: TerminalStatus): void {
  const row = rowOf(tables, entry);
  if (row === undefined) return;
  row.counts = endStep(row.counts, { status, continueOnFailure: entry.spec.continueOnFailure });
  if (row.counts.open > 0) return;
  row.endedAt = tables.clock.now();
  noteWorkflowEnd(tables, row);
}

/** Counts a step as not ended. `status` is how it had ended. */
export function stepReopened(tables: Tables, entry: Entry, status: TerminalStatus): void {
  const row = rowOf(tables, entry);
  if (row === undefined) return;
  row.counts = reopenStep(row.counts, { status, continueOnFailure: entry.spec.continueOnFailure });
  row.endedAt = null;
}

/** Items are counted by their group, not by the workflow. */
function rowOf(tables: Tables, entry: Entry): WorkflowRow | undefined {
  return entry.groupId === null ? tables.workflows.get(entry.workflowId ?? 0) : undefined;
}

/** Reads workflows and their steps. */

import type { GroupState, Workflow, WorkflowFilter, WorkflowStep } from '../../../core/dag/workflow.ts';
import type { StepCounts } from '../../../core/dag/workflow-status.ts';
import type { StepPage } from '../../workflow-store.ts';
import type { Context } from '../base/context.ts';
import type { Param } from '../base/database.ts';
import { sql } from '../base/sql.ts';
import { decodeJob, type JobRow } from '../reads/job-row.ts';
import { decodeWorkflow, type WorkflowRow } from './workflow-row.ts';

export function workflow({ database }: Context, id: number): Workflow | undefined {
  const row = database.get<WorkflowRow>(sql.workflows, id);
  return row === undefined ? undefined : decodeWorkflow(row);
}

export function workflows(
  { database }: Context,
  filter: WorkflowFilter,
  { before, limit }: { before: number | null; limit: number },
): Workflow[] {
  const conditions: string[] = ['true'];
  const params: Param[] = [];
  const must = (condition: string, value: Param) => {
    conditions.push(condition);
    params.push(value);
  };
  if (filter.status !== undefined) must('status = ?', filter.status);
  if (filter.name !== undefined) must('name = ?', filter.name);
  if (filter.definition !== undefined) must('definition = ?', filter.definition);
  if (before !== null) must('id < ?', before);
  const statement = `select * from workflow where ${conditions.join(' and ')} order by id desc limit ?`;
  return database.all<WorkflowRow>(statement, ...params, limit).map(decodeWorkflow);
}

type GroupColumns = readonly [
  source: string | null,
  total: number | null,
  maxParallel: number | null,
  inserted: number,
  open: number,
  fine: number,
  failed: number,
  cancelled: number,
];

/** The job of a step and, for a group, its items. */
type StepRow = readonly [...job: JobRow, ...group: GroupColumns];

export function steps({ database }: Context, workflowId: number, page: StepPage | null) {
  return database.tuples<StepRow>(sql.steps, workflowId, page?.after ?? 0, page?.limit ?? -1);
}

const GROUP_COLUMNS = 8;

export function decodeStep(row: StepRow): WorkflowStep {
  const job = decodeJob(row.slice(0, -GROUP_COLUMNS) as unknown as JobRow);
  return {
    job,
    key: job.stepKey as string,
    condition: job.dependsOn[0]?.condition ?? 'success',
    group: decodeGroup(row.slice(-GROUP_COLUMNS) as unknown as GroupColumns),
  };
}

function decodeGroup([source, total, maxParallel, inserted, ...ended]: GroupColumns): GroupState | null {
  if (source === null) return null;
  const [open, fine, failed, cancelled] = ended;
  const counts: StepCounts = { open, fine, failed, cancelled };
  return { source: JSON.parse(source) as GroupState['source'], total, maxParallel, inserted, counts };
}

export function skippedSteps({ database }: Context, ids: readonly number[]): { workflowId: number; count: number }[] {
  return database
    .all<{ workflow_id: number; count: number }>(sql.skippedSteps, JSON.stringify(ids))
    .map(({ workflow_id: workflowId, count }) => ({ workflowId, count }));
}

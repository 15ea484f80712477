/** Reads workflows and their steps. */

import type { GroupState, Workflow, WorkflowFilter, WorkflowStep } from '../../../core/dag/workflow.ts';
import type { WorkflowStatus } from '../../../core/dag/workflow-status.ts';
import type { Notify } from '../../../core/notify.ts';
import type { StepPage } from '../../workflow-store.ts';
import type { Context } from '../base/context.ts';
import type { Session } from '../base/database.ts';
import { numbers } from '../base/values.ts';
import { decodeJob, type JobRow } from '../reads/job-row.ts';
import { countsOf, type GroupRow } from './groups.ts';

interface WorkflowRow {
  id: number;
  name: string;
  params: Record<string, unknown>;
  status: WorkflowStatus;
  created_at: number;
  started_at: number | null;
  ended_at: number | null;
  rerun_of: number | null;
  notify: Notify[] | null;
  definition: string | null;
  definition_version: number | null;
  submitted_by: string | null;
  total: number;
  open_steps: number;
  fine_steps: number;
  failed_steps: number;
  cancelled_steps: number;
}

export async function workflow(
  { database, sql }: Context,
  id: number,
  signal: AbortSignal,
): Promise<Workflow | undefined> {
  const [row] = await database.query<WorkflowRow>(sql.workflows, [numbers([id])], signal);
  return row === undefined ? undefined : decodeWorkflow(row);
}

/** Reads a workflow within a transaction. */
export async function workflowIn({ sql }: Context, session: Session, id: number): Promise<Workflow | undefined> {
  const [row] = await session.query<WorkflowRow>(sql.workflows, [numbers([id])]);
  return row === undefined ? undefined : decodeWorkflow(row);
}

export async function workflows(
  { database, schema }: Context,
  { status, name, definition }: WorkflowFilter,
  { before, limit }: { before: number | null; limit: number },
  signal: AbortSignal,
): Promise<Workflow[]> {
  const values: unknown[] = [];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const conditions = [
    ...(status === undefined ? [] : [`status = ${bind(status)}`]),
    ...(name === undefined ? [] : [`name = ${bind(name)}`]),
    ...(definition === undefined ? [] : [`definition = ${bind(definition)}`]),
    ...(before === null ? [] : [`id < ${bind(before)}::bigint`]),
  ];
  const where = conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`;
  const text = `select * from ${schema}.workflow ${where} order by id desc limit ${bind(limit)}::bigint`;
  const rows = await database.query<WorkflowRow>({ text }, values, signal);
  return rows.map(decodeWorkflow);
}

export async function steps(
  { database, sql }: Context,
  workflowId: number,
  page: StepPage | null,
  signal: AbortSignal,
): Promise<WorkflowStep[]> {
  const values = [workflowId, page?.after ?? 0, page?.limit ?? null];
  const found = await database.query<{ id: number }>(sql.stepIds, values, signal);
  if (found.length === 0) return [];
  const ids = numbers(found.map(({ id }) => id));
  type WithSource = GroupRow & { source: GroupState['source'] };
  const [jobs, rows] = await Promise.all([
    database.query<JobRow>(sql.jobs, [ids], signal),
    database.query<WithSource>(sql.stepGroups, [ids], signal),
  ]);
  const groups = new Map(rows.map((row) => [row.job_id, stateOfGroup(row)]));
  return jobs
    .map(decodeJob)
    .sort((a, b) => a.id - b.id)
    .map((job) => ({
      job,
      key: job.stepKey as string,
      condition: job.dependsOn[0]?.condition ?? 'success',
      group: groups.get(job.id) ?? null,
    }));
}

export async function skippedSteps(
  { database, sql }: Context,
  ids: readonly number[],
  signal: AbortSignal,
): Promise<{ workflowId: number; count: number }[]> {
  type Row = { workflow_id: number; count: number };
  const rows = await database.query<Row>(sql.skippedSteps, [numbers(ids)], signal);
  return rows.map(({ workflow_id: workflowId, count }) => ({ workflowId, count }));
}

function stateOfGroup(row: GroupRow & { source: GroupState['source'] }): GroupState {
  const { source, total, max_parallel, inserted } = row;
  return { source, total, maxParallel: max_parallel, inserted, counts: countsOf(row) };
}

function decodeWorkflow(row: WorkflowRow): Workflow {
  return {
    id: row.id,
    name: row.name,
    params: row.params,
    notify: row.notify ?? [],
    status: row.status,
    createdAt: row.created_at,
    startedAt: row.started_at,
    endedAt: row.ended_at,
    rerunOf: row.rerun_of,
    definition: row.definition === null ? null : { name: row.definition, version: row.definition_version ?? 0 },
    submittedBy: row.submitted_by,
    total: row.total,
    counts: { open: row.open_steps, fine: row.fine_steps, failed: row.failed_steps, cancelled: row.cancelled_steps },
  };
}

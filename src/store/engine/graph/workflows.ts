/** Reads workflows and their steps. */

import type { GroupState, Workflow, WorkflowFilter, WorkflowStep } from '../../../core/dag/workflow.ts';
import type { StepCounts } from '../../../core/dag/workflow-status.ts';
import type { Notify } from '../../../core/notify.ts';
import type { GraphWork } from '../../duty-store.ts';
import { columns } from '../../sql/columns.ts';
import { allOf, anyOf, raw, type Spelling, sql } from '../../sql/sql.ts';
import { many, one, type Tx } from '../../sql/tx.ts';
import type { StepPage } from '../../workflow-store.ts';
import { readJobs } from '../reads.ts';
import { needsItems } from './expand.ts';

/** The row of a workflow. */
type WorkflowRow = Omit<Workflow, 'notify' | 'definition' | 'counts'> & {
  notify: readonly Notify[] | null;
  definition: string | null;
  definitionVersion: number | null;
  openSteps: number;
  fineSteps: number;
  failedSteps: number;
  cancelledSteps: number;
};

export const workflowRow = columns<WorkflowRow>({
  id: 'bigint',
  name: 'text',
  params: 'json',
  notify: 'json',
  status: 'text',
  createdAt: 'instant',
  startedAt: 'instant',
  endedAt: 'instant',
  rerunOf: 'bigint',
  definition: 'text',
  definitionVersion: 'int',
  submittedBy: 'text',
  total: 'int',
  openSteps: 'int',
  fineSteps: 'int',
  failedSteps: 'int',
  cancelledSteps: 'int',
});
const idRow = columns<{ id: number }>({ id: 'bigint' });
const skippedRow = columns<{ workflowId: number; count: number }>({ workflowId: 'bigint', count: 'int' });
const workRow = columns<GraphWork>({ adopt: 'bool', cascade: 'bool', expand: 'bool' });

function workflowFrom(stored: WorkflowRow): Workflow {
  const { notify, definition, definitionVersion, openSteps, fineSteps, failedSteps, cancelledSteps, ...rest } = stored;
  return {
    ...rest,
    notify: notify ?? [],
    definition: definition === null ? null : { name: definition, version: definitionVersion ?? 0 },
    counts: { open: openSteps, fine: fineSteps, failed: failedSteps, cancelled: cancelledSteps },
  };
}

export async function workflow(tx: Tx, id: number): Promise<Workflow | undefined> {
  const found = await tx.get(workflowRow, sql`select ${workflowRow} from workflow where id = ${id}`);
  return found === undefined ? undefined : workflowFrom(found);
}

async function workflows(
  tx: Tx,
  { status, name, definition }: WorkflowFilter,
  { before, limit }: { before: number | null; limit: number },
): Promise<Workflow[]> {
  const asked = allOf([
    status === undefined ? undefined : sql`status = ${status}`,
    name === undefined ? undefined : sql`name = ${name}`,
    definition === undefined ? undefined : sql`definition = ${definition}`,
    before === null ? undefined : sql`id < ${before}`,
  ]);
  const found = await tx.all(
    workflowRow,
    sql`select ${workflowRow} from workflow where ${asked} order by id desc limit ${limit}`,
  );
  return found.map(workflowFrom);
}

/** The number of items of a group. */
const totalOf: Spelling = (dialect) =>
  raw(dialect === 'postgres' ? 'case when items is not null then jsonb_array_length(items) end as total' : 'total');

type GroupRow = Omit<GroupState, 'counts'> & {
  jobId: number;
  openItems: number;
  fineItems: number;
  failedItems: number;
  cancelledItems: number;
};

const groupRow = columns<GroupRow>({
  jobId: 'bigint',
  source: 'json',
  total: 'int',
  maxParallel: 'int',
  inserted: 'int',
  openItems: 'int',
  fineItems: 'int',
  failedItems: 'int',
  cancelledItems: 'int',
});

async function steps(tx: Tx, workflowId: number, page: StepPage | null): Promise<WorkflowStep[]> {
  const found = await tx.all(
    idRow,
    sql`select id from job where workflow_id = ${workflowId} and id > ${page?.after ?? 0} and group_id is null
      order by id limit ${page?.limit ?? Number.MAX_SAFE_INTEGER}`,
  );
  if (found.length === 0) return [];
  const ids = found.map(({ id }) => id);
  const [jobs, groups] = await Promise.all([readJobs(tx, ids), groupsOf(tx, ids)]);
  return jobs.map((job) => ({
    job,
    key: job.stepKey as string,
    condition: job.dependsOn[0]?.condition ?? 'success',
    group: groups.get(job.id) ?? null,
  }));
}

async function groupsOf(tx: Tx, ids: readonly number[]): Promise<Map<number, GroupState>> {
  const found = await tx.all(
    groupRow,
    sql`select job_id, source, ${totalOf}, max_parallel, inserted, open_items, fine_items, failed_items, cancelled_items
      from job_group where job_id ${anyOf(ids)}`,
  );
  return new Map(
    found.map(({ jobId, openItems, fineItems, failedItems, cancelledItems, ...state }) => {
      const counts: StepCounts = { open: openItems, fine: fineItems, failed: failedItems, cancelled: cancelledItems };
      return [jobId, { ...state, counts }];
    }),
  );
}

/** `coalesce` keeps PostgreSQL from an index where the job's id comes second: see `isFinal`. */
function skippedSteps(tx: Tx, ids: readonly number[]): Promise<{ workflowId: number; count: number }[]> {
  return tx.all(
    skippedRow,
    sql`select j.workflow_id, count(*) as count from job j join run r on r.job_id = j.id
        and coalesce(r.status, '') = 'skipped'
      where j.workflow_id ${anyOf(ids)} and j.group_id is null group by j.workflow_id`,
  );
}

/** Which duties of graphs have something to do. */
async function graphWork(tx: Tx): Promise<GraphWork> {
  const found = await tx.get(
    workRow,
    sql`select exists (select 1 from intake) as adopt, exists (select 1 from cascade) as cascade,
      exists (select 1 from job_group where ${needsItems}) as expand`,
  );
  return found as GraphWork;
}

export const workflowMethods = {
  workflow: one('urgent', workflow),
  workflows: one('read', workflows),
  steps: many('read', steps),
  skippedSteps: one('read', skippedSteps),
  graphWork: one('read', graphWork),
};

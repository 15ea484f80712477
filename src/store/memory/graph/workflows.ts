import type { NewForEach, NewStep, NewSteps, NewWorkflow } from '../../../core/dag/new-workflow.ts';
import type { Workflow, WorkflowFilter, WorkflowStep } from '../../../core/dag/workflow.ts';
import { openSteps } from '../../../core/dag/workflow-status.ts';
import { WorkronError } from '../../../core/error.ts';
import type { InsertOptions } from '../../job-store.ts';
import type { StepPage } from '../../workflow-store.ts';
import { copyJson, copySpec } from '../base/copy.ts';
import type { Entry } from '../base/entry.ts';
import { jobOf, type Tables } from '../base/tables.ts';
import { end } from '../jobs/finish.ts';
import { answeredBefore } from '../jobs/idempotency.ts';
import { dueOf, launch } from '../jobs/insert.ts';
import { addEntry } from '../jobs/new-entry.ts';
import { link } from './edges.ts';
import { type Group, toGroupState } from './groups.ts';
import { toWorkflow, type WorkflowRow } from './workflow-row.ts';

export function insertWorkflow(
  tables: Tables,
  wanted: NewWorkflow,
  { idempotency }: InsertOptions,
): { workflow: Workflow; replayed: boolean } {
  const answered = idempotency === undefined ? undefined : answeredBefore(tables, idempotency);
  if (answered !== undefined) return { workflow: replay(tables, answered.workflowId), replayed: true };
  const row = addWorkflow(tables, wanted);
  if (idempotency !== undefined) {
    const answer = { fingerprint: idempotency.fingerprint, items: [], workflowId: row.id, createdAt: row.createdAt };
    tables.idempotency.set(idempotency.key, answer);
  }
  return { workflow: toWorkflow(row), replayed: false };
}

/** The line that a scheduled workflow runs for, and what it waits for. */
interface RunPlace {
  line: number;
  /** The jobs that its first steps wait for. */
  after: readonly number[];
}

export function addWorkflow(tables: Tables, wanted: NewWorkflow, place?: RunPlace): WorkflowRow {
  refuseUnknown(tables, wanted.steps);
  const row: WorkflowRow = {
    id: (tables.lastId.workflow += 1),
    name: wanted.name,
    params: copyJson(wanted.params),
    notify: copyJson(wanted.notify ?? []),
    createdAt: tables.clock.now(),
    rerunOf: wanted.rerunOf,
    definition: wanted.definition === undefined ? null : { ...wanted.definition },
    submittedBy: wanted.submittedBy ?? null,
    line: place?.line ?? null,
    total: wanted.steps.length,
    startedAt: null,
    endedAt: null,
    counts: openSteps(wanted.steps.length),
    jobs: new Set(),
  };
  tables.workflows.set(row.id, row);
  const ids: number[] = [];
  for (const step of wanted.steps) ids.push(insertStep(tables, row.id, step, { ids, after: place?.after ?? [] }).id);
  return row;
}

export function workflow(tables: Tables, id: number): Workflow | undefined {
  const row = tables.workflows.get(id);
  return row === undefined ? undefined : toWorkflow(row);
}

export function workflows(
  tables: Tables,
  { status, name, definition }: WorkflowFilter,
  { before, limit }: { before: number | null; limit: number },
): Workflow[] {
  return [...tables.workflows.values()]
    .reverse()
    .filter(({ id }) => before === null || id < before)
    .map(toWorkflow)
    .filter((found) => (status === undefined || found.status === status) && (name === undefined || found.name === name))
    .filter((found) => definition === undefined || found.definition?.name === definition)
    .slice(0, limit);
}

export function steps(tables: Tables, workflowId: number, page: StepPage | null): WorkflowStep[] {
  const after = page?.after ?? 0;
  return [...(tables.workflows.get(workflowId)?.jobs ?? [])]
    .filter(({ id, groupId }) => groupId === null && id > after)
    .slice(0, page?.limit)
    .map((entry) => ({
      job: jobOf(tables, entry),
      key: entry.stepKey as string,
      condition: [...entry.parents.values()][0]?.condition ?? 'success',
      group: entry.group === null ? null : toGroupState(entry.group),
    }));
}

function replay(tables: Tables, id: number | null): Workflow {
  const row = tables.workflows.get(id ?? 0);
  if (row === undefined) throw new WorkronError('workflow_not_found', `Workflow ${id} no longer exists`);
  return toWorkflow(row);
}

/** Called before anything is inserted. */
function refuseUnknown(tables: Tables, steps: NewSteps): void {
  for (const { keepFrom } of steps) {
    if (keepFrom === null || tables.jobs.has(keepFrom)) continue;
    throw new WorkronError('job_not_found', `No job ${keepFrom} whose result could be kept`, { jobId: keepFrom });
  }
}

/** `ids` are those of the earlier steps. */
function insertStep(
  tables: Tables,
  workflowId: number,
  step: NewStep,
  { ids, after }: { ids: readonly number[]; after: readonly number[] },
): Entry {
  const { key, job, parents, condition, forEach, keepFrom } = step;
  const entry = addEntry(tables, {
    spec: copySpec(job),
    dueAt: dueOf(job, tables.clock.now()),
    origin: { workflowId, stepKey: key, rerunOf: keepFrom },
    group: forEach === null ? null : newGroup(forEach, ids),
  });
  link(
    tables,
    entry,
    parents.length === 0
      ? after.map((jobId) => ({ jobId, condition: 'ended' as const }))
      : parents.map((place) => ({ jobId: ids[place] as number, condition })),
  );
  if (keepFrom === null) launch(tables, entry);
  else keep(tables, entry, tables.jobs.get(keepFrom) as Entry);
  return entry;
}

function keep(tables: Tables, entry: Entry, original: Entry): void {
  entry.result = copyJson(original.result);
  end(tables, entry, { status: 'done', reason: null, record: null, error: null });
}

function newGroup({ items, maxParallel }: NewForEach, ids: readonly number[]): Group {
  const source = 'parent' in items ? { parentId: ids[items.parent] as number, path: [...items.path] } : copyJson(items);
  return { source, maxParallel, items: null, itemIds: [], counts: openSteps(0) };
}

export function skippedSteps(tables: Tables, ids: readonly number[]): { workflowId: number; count: number }[] {
  return ids
    .map((workflowId) => {
      const jobs = [...(tables.workflows.get(workflowId)?.jobs ?? [])];
      return { workflowId, count: jobs.filter((job) => job.groupId === null && job.status === 'skipped').length };
    })
    .filter(({ count }) => count > 0);
}

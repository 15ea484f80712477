import type { ParentEnd, RunContext, TerminalStatus } from '../../../core/job.ts';
import { HAS_RUN_CONTEXT } from '../../flags.ts';
import { itemOf, type StoredSpec } from '../../spec.ts';
import type { Context } from '../base/context.ts';
import { numbers } from '../base/values.ts';

/** A job that was just claimed. */
interface Claimed {
  job: { id: number; startedAt: number };
  flags: number;
  spec: StoredSpec;
  workflowId: number | null;
  groupId: number | null;
  /** The place of an item in its group. */
  groupIndex: number | null;
}

/** Columns of equal length: pairs of child and parent. */
interface ContextRows {
  children: number[] | null;
  parents: number[];
  about: WorkflowRow[] | null;
  /** The keys of the steps that claimed jobs run for. */
  steps: [jobId: number, key: string][] | null;
}

interface WorkflowRow {
  id: number;
  params: Record<string, unknown>;
  /** True if none of its steps was claimed before. */
  fresh: boolean;
}

/** Returns the run contexts of claimed jobs by id. Jobs without workflow and parents have none, and cost nothing. */
export async function runContextOf(
  context: Context,
  claimed: readonly Claimed[],
  signal: AbortSignal,
): Promise<ReadonlyMap<number, RunContext>> {
  const { database, sql } = context;
  const jobs = claimed.filter(({ flags }) => flags & HAS_RUN_CONTEXT);
  if (jobs.length === 0) return new Map();
  // An item has the parents of its group, which many items share.
  const askedOf = ({ job, groupId }: Claimed) => groupId ?? job.id;
  const workflowIds = new Set(jobs.flatMap(({ workflowId }) => workflowId ?? []));
  const inWorkflow = jobs.filter(({ workflowId }) => workflowId !== null).map(({ job }) => job.id);
  const values = [numbers([...new Set(jobs.map(askedOf))]), numbers([...workflowIds]), numbers(inWorkflow)];
  const [rows] = await database.query<ContextRows>(sql.contextRows, values, signal);
  const about = rows?.about ?? [];
  await beginWorkflows({ database, sql }, about, { startedAt: jobs[0]?.job.startedAt ?? 0, signal });
  const params = new Map(about.map((workflow) => [workflow.id, workflow.params]));
  const steps = new Map(rows?.steps ?? []);
  const ends = await parentEnds(context, rows as ContextRows, signal);
  return new Map(
    jobs.map((claim) => {
      const { job, spec, workflowId, groupId, groupIndex } = claim;
      const step = steps.get(job.id);
      const runContext = {
        workflow: workflowId === null || step === undefined ? null : { id: workflowId, step },
        params: (workflowId === null ? undefined : params.get(workflowId)) ?? {},
        item: groupId === null ? null : { value: itemOf(spec), index: groupIndex ?? 0 },
        parents: ends.get(askedOf(claim)) ?? [],
      };
      return [job.id, runContext];
    }),
  );
}

/** Returns the ends of parents by child. Each parent is read once, however many children it has. */
async function parentEnds(
  context: Context,
  { children, parents }: ContextRows,
  signal: AbortSignal,
): Promise<ReadonlyMap<number, ParentEnd[]>> {
  const pairs = (children ?? []).map((childId, place) => ({ childId, parentId: parents[place] as number }));
  const ended = await endsOf(context, [...new Set(pairs.map(({ parentId }) => parentId))], signal);
  const ends = new Map<number, ParentEnd[]>();
  for (const { childId, parentId } of pairs) {
    const end = ended.get(parentId);
    if (end === undefined) continue;
    const siblings = ends.get(childId);
    if (siblings === undefined) ends.set(childId, [end]);
    else siblings.push(end);
  }
  return ends;
}

/** Returns the ends of jobs that have ended. */
async function endsOf(
  { database, sql, recentSuccesses }: Context,
  ids: readonly number[],
  signal: AbortSignal,
): Promise<ReadonlyMap<number, ParentEnd>> {
  const ends = new Map<number, ParentEnd>();
  const unknown: number[] = [];
  for (const jobId of ids) {
    const key = recentSuccesses.keyOf(jobId);
    if (key === undefined) unknown.push(jobId);
    else ends.set(jobId, { jobId, key, status: 'done', result: null });
  }
  if (unknown.length === 0) return ends;
  type Columns = { ids: number[] | null; keys: string[]; statuses: TerminalStatus[]; results: unknown[] };
  const [row] = await database.query<Columns>(sql.parentEnds, [numbers(unknown)], signal);
  for (const [place, jobId] of (row?.ids ?? []).entries()) {
    const end = { key: row?.keys[place] as string, status: row?.statuses[place] as TerminalStatus };
    ends.set(jobId, { jobId, ...end, result: row?.results[place] });
  }
  return ends;
}

/** Marks workflows as started. All jobs of one claim have started at the same instant. */
async function beginWorkflows(
  { database, sql }: Pick<Context, 'database' | 'sql'>,
  about: readonly WorkflowRow[],
  { startedAt, signal }: { startedAt: number; signal: AbortSignal },
): Promise<void> {
  const fresh = about.flatMap((workflow) => (workflow.fresh ? [workflow.id] : []));
  if (fresh.length === 0) return;
  await database.query(sql.beginWorkflows, [numbers(fresh), numbers(fresh.map(() => startedAt))], signal);
}

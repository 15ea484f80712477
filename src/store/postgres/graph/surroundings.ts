import type { ParentEnd, Surroundings, TerminalStatus } from '../../../core/job.ts';
import { itemOf, type StoredSpec } from '../../spec.ts';
import type { Context } from '../context.ts';
import { SURROUNDED } from '../flags.ts';
import { numbers } from '../values.ts';

/** A job that was just claimed. */
export interface Claimed {
  job: { id: number; startedAt: number };
  flags: number;
  spec: StoredSpec;
  workflowId: number | null;
  groupId: number | null;
  /** Of an item, its place in the group. */
  groupIndex: number;
}

/** Columns of equal length, twice: pairs of child and parent, parents that have ended. */
interface Around {
  children: number[] | null;
  parents: number[];
  ended: number[] | null;
  keys: string[];
  statuses: TerminalStatus[];
  results: unknown[];
  about: WorkflowRow[] | null;
}

interface WorkflowRow {
  id: number;
  params: Record<string, unknown>;
  /** None of its steps was claimed before. */
  fresh: boolean;
}

/** What claimed jobs can know of those around them, by id; those that stand alone have nothing and cost nothing. */
export async function surroundingsOf(
  { database, sql }: Context,
  claimed: readonly Claimed[],
  signal: AbortSignal,
): Promise<ReadonlyMap<number, Surroundings>> {
  const jobs = claimed.filter(({ flags }) => flags & SURROUNDED);
  if (jobs.length === 0) return new Map();
  // An item has the parents of its group, which many items share.
  const askedOf = ({ job, groupId }: Claimed) => groupId ?? job.id;
  const workflowIds = new Set(jobs.flatMap(({ workflowId }) => workflowId ?? []));
  const values = [numbers([...new Set(jobs.map(askedOf))]), numbers([...workflowIds])];
  const [around] = await database.query<Around>(sql.surroundings, values, signal);
  const about = around?.about ?? [];
  await beginWorkflows({ database, sql }, about, { startedAt: jobs[0]?.job.startedAt ?? 0, signal });
  const params = new Map(about.map((workflow) => [workflow.id, workflow.params]));
  const ends = parentEnds(around as Around);
  return new Map(
    jobs.map((claim) => {
      const { job, spec, workflowId, groupId, groupIndex } = claim;
      const surroundings = {
        params: (workflowId === null ? undefined : params.get(workflowId)) ?? {},
        item: groupId === null ? null : { value: itemOf(spec), index: groupIndex },
        parents: ends.get(askedOf(claim)) ?? [],
      };
      return [job.id, surroundings];
    }),
  );
}

/** By child. */
function parentEnds({ children, parents, ended, keys, statuses, results }: Around): ReadonlyMap<number, ParentEnd[]> {
  const known = new Map(
    (ended ?? []).map((jobId, place): [number, ParentEnd] => {
      const end = { key: keys[place] as string, status: statuses[place] as TerminalStatus };
      return [jobId, { jobId, ...end, result: results[place] }];
    }),
  );
  const ends = new Map<number, ParentEnd[]>();
  for (const [place, childId] of (children ?? []).entries()) {
    const end = known.get(parents[place] as number);
    if (end === undefined) continue;
    const siblings = ends.get(childId);
    if (siblings === undefined) ends.set(childId, [end]);
    else siblings.push(end);
  }
  return ends;
}

/** All jobs of one claim have started at the same instant. */
async function beginWorkflows(
  { database, sql }: Pick<Context, 'database' | 'sql'>,
  about: readonly WorkflowRow[],
  { startedAt, signal }: { startedAt: number; signal: AbortSignal },
): Promise<void> {
  const fresh = about.flatMap((workflow) => (workflow.fresh ? [workflow.id] : []));
  if (fresh.length === 0) return;
  await database.query(sql.beginWorkflows, [numbers(fresh), numbers(fresh.map(() => startedAt))], signal);
}

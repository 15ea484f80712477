import type { ParentEnd, Surroundings, TerminalStatus } from '../../../core/job.ts';
import { itemOf, type StoredSpec } from '../../spec.ts';
import type { Context } from '../context.ts';
import { SURROUNDED } from '../flags.ts';
import { numbers } from '../values.ts';

/** A job that was just claimed. */
export interface Claimed {
  id: number;
  startedAt: number;
  flags: number;
  spec: StoredSpec;
}

/** Columns of equal length, three times: jobs, pairs of child and parent, parents that have ended. 0: none. */
interface Around {
  ids: number[] | null;
  workflows: number[];
  groups: number[];
  indexes: number[];
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
  const jobs = new Map(claimed.filter(({ flags }) => flags & SURROUNDED).map((job) => [job.id, job]));
  if (jobs.size === 0) return new Map();
  const [around] = await database.query<Around>(sql.surroundings, [numbers([...jobs.keys()])], signal);
  const { ids, workflows, groups, indexes, about } = around as Around;
  const startedAt = claimed[0]?.startedAt ?? 0;
  await beginWorkflows({ database, sql }, about ?? [], { startedAt, signal });
  const params = new Map((about ?? []).map((workflow) => [workflow.id, workflow.params]));
  const ends = parentEnds(around as Around);
  return new Map(
    (ids ?? []).map((id, place) => {
      const groupId = groups[place] || null;
      const value = () => itemOf(jobs.get(id)?.spec ?? {});
      const surroundings = {
        params: params.get(workflows[place] as number) ?? {},
        item: groupId === null ? null : { value: value(), index: indexes[place] as number },
        // An item has the parents of its group, which many items share.
        parents: ends.get(groupId ?? id) ?? [],
      };
      return [id, surroundings];
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

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

interface Around {
  id: number;
  group_id: number | null;
  group_index: number | null;
  workflow_id: number | null;
  params: Record<string, unknown> | null;
  /** Of a workflow none of whose steps was claimed before. */
  fresh: boolean;
}

interface ParentRow {
  child_id: number;
  id: number;
  key: string;
  status: TerminalStatus;
  result: unknown;
}

/** What claimed jobs can know of those around them, by id; those that stand alone have nothing and cost nothing. */
export async function surroundingsOf(
  { database, sql }: Context,
  claimed: readonly Claimed[],
  signal: AbortSignal,
): Promise<ReadonlyMap<number, Surroundings>> {
  const jobs = claimed.filter(({ flags }) => flags & SURROUNDED);
  if (jobs.length === 0) return new Map();
  const around = await database.query<Around>(sql.around, [numbers(jobs.map(({ id }) => id))], signal);
  await beginWorkflows({ database, sql }, around, { startedAt: jobs[0]?.startedAt ?? 0, signal });
  // An item has the parents of its group, which many items share.
  const children = [...new Set(around.map(({ id, group_id }) => group_id ?? id))];
  const parents = await database.query<ParentRow>(sql.parentEnds, [numbers(children)], signal);
  const ends = new Map<number, ParentEnd[]>();
  for (const { child_id, id, key, status, result } of parents) {
    const siblings = ends.get(child_id) ?? [];
    siblings.push({ jobId: id, key, status, result });
    ends.set(child_id, siblings);
  }
  const specs = new Map(jobs.map(({ id, spec }) => [id, spec]));
  return new Map(
    around.map(({ id, group_id, group_index, params }) => [
      id,
      {
        params: params ?? {},
        item: group_index === null ? null : { value: itemOf(specs.get(id) ?? {}), index: group_index },
        parents: ends.get(group_id ?? id) ?? [],
      },
    ]),
  );
}

/** All jobs of one claim have started at the same instant. */
async function beginWorkflows(
  { database, sql }: Pick<Context, 'database' | 'sql'>,
  around: readonly Around[],
  { startedAt, signal }: { startedAt: number; signal: AbortSignal },
): Promise<void> {
  const fresh = [...new Set(around.flatMap((row) => (row.fresh && row.workflow_id !== null ? [row.workflow_id] : [])))];
  if (fresh.length === 0) return;
  await database.query(sql.beginWorkflows, [numbers(fresh), numbers(fresh.map(() => startedAt))], signal);
}

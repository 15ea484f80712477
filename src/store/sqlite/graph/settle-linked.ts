/** Ends successful jobs that are linked to others. */

import type { Status } from '../../../core/job.ts';
import { FLAG } from '../../flags.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';

type ScopeRow = readonly [jobId: number, workflowId: number | null, groupId: number | null];

/** The final rows of the jobs are marked as propagated. */
export function settleLinked(context: Context, jobs: readonly { jobId: number; flags: number }[]): void {
  const counted = jobs.filter(({ flags }) => flags & (FLAG.inWorkflow | FLAG.item)).map(({ jobId }) => jobId);
  const rows = counted.length === 0 ? [] : context.database.tuples<ScopeRow>(sql.scopes, JSON.stringify(counted));
  const scopes = new Map(rows.map(([jobId, workflowId, groupId]) => [jobId, { workflowId, groupId }]));
  const parents = jobs.filter(({ flags }) => flags & FLAG.hasChildren).map(({ jobId }) => jobId);
  context.graphUpdate.succeeded(
    jobs.map((job) => ({ ...job, ...(scopes.get(job.jobId) ?? NO_SCOPE) })),
    parents.length === 0 ? NO_CHILDREN : propagateSuccess(context, parents),
  );
}

const NO_SCOPE = { workflowId: null, groupId: null };
const NO_CHILDREN: Propagated = { children: new Set(), incomplete: false };

type ChildRow = readonly [
  childId: number,
  /** The number of edges from these parents. */
  count: number,
  /** All of them are open and ask for something else than a failure. */
  canHold: number,
  /** `null`, as all that follows: the child has ended. */
  status: Status | null,
  flags: number,
  dueAt: number,
  open: number,
  broken: number,
  missed: number,
];

interface Propagated {
  children: ReadonlySet<number>;
  /** Some children were left out. */
  incomplete: boolean;
}

/**
 * The fast path of `propagate` in core/dag/propagate.ts, for parents that are done. A success can only unblock a child that
 * is blocked, has no edge that cannot hold, and asks none of these parents for a failure: all that is left of the rules is
 * that each edge holds, and that the child is free with the last one. The edges are not written: `propagated` in the final
 * row of the parent says that they hold. All other children, and groups, are left to the engine.
 */
function propagateSuccess(context: Context, parentIds: readonly number[]): Propagated {
  const { database, now, effects, graphUpdate } = context;
  const ids = JSON.stringify(parentIds);
  database.run(sql.dropCascade, ids);
  const rows = database.tuples<ChildRow>(sql.childrenOf, ids);
  const unblockable = rows.filter(
    ([, , canHold, status, flags, , , broken, missed]) =>
      canHold === 1 && status === 'blocked' && (flags & FLAG.group) === 0 && broken + missed === 0,
  );
  if (unblockable.length > 0) {
    database.run(sql.propagateSuccess, JSON.stringify(unblockable.map(([childId, count]) => [childId, count])), now);
  }
  for (const [childId, count, , , , dueAt, open] of unblockable) {
    effects.changedJob(childId);
    if (open > count) continue;
    if (dueAt > now) effects.willBeDue(dueAt);
    else {
      graphUpdate.claimable(childId);
      effects.madeWork();
    }
  }
  return {
    children: new Set(unblockable.map(([childId]) => childId)),
    incomplete: unblockable.length < rows.length,
  };
}

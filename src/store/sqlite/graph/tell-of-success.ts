/**
 * Tells the children of jobs that ended well, for those to whom that can only be good news: they wait, all that they have
 * heard so far was good, and none of their edges asks for a failure. Nothing is to be judged then but whether this was the
 * last, and their edges stay as they are: `told` in the parent's final row says that they hold. All others, groups among
 * them, are left to carry.ts, which knows everything.
 */

import type { Status } from '../../../core/job.ts';
import { FLAG } from '../../flags.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';

type ChildRow = readonly [
  childId: number,
  /** Edges from these jobs. */
  count: number,
  isGood: number,
  /** `null`, as all that follows: the child has ended. */
  status: Status | null,
  flags: number,
  dueAt: number,
  open: number,
  broken: number,
  missed: number,
];

export interface Told {
  children: ReadonlySet<number>;
  /** There are others, who have not heard. */
  leaves: boolean;
}

export function tellOfSuccess({ database, now, effects, aftermath }: Context, parentIds: readonly number[]): Told {
  const ids = JSON.stringify(parentIds);
  database.run(sql.dropCascade, ids);
  const rows = database.tuples<ChildRow>(sql.childrenOf, ids);
  const glad = rows.filter(
    ([, , isGood, status, flags, , , broken, missed]) =>
      isGood === 1 && status === 'blocked' && (flags & FLAG.group) === 0 && broken + missed === 0,
  );
  if (glad.length > 0) {
    database.run(sql.tellChildren, JSON.stringify(glad.map(([childId, count]) => [childId, count])), now);
  }
  for (const [childId, count, , , , dueAt, open] of glad) {
    effects.changedJob(childId);
    if (open > count) continue;
    if (dueAt > now) effects.willBeDue(dueAt);
    else {
      aftermath.claimable(childId);
      effects.madeWork();
    }
  }
  return { children: new Set(glad.map(([childId]) => childId)), leaves: glad.length < rows.length };
}

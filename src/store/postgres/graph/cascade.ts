/** Carries ends and reopenings of jobs further down. */

import { countedEnd } from '../../../core/dag/conditions.ts';
import type { TerminalStatus } from '../../../core/job.ts';
import type { Context } from '../base/context.ts';
import type { Session } from '../base/database.ts';
import { FLAG } from '../base/flags.ts';
import { numbers } from '../base/values.ts';
import { type CascadeEntry, entryColumns, TransactionEffects } from './effects.ts';
import { Locks } from './locks.ts';
import { cascadeEntryOf, type Parent, Propagation } from './propagate.ts';
import { type EdgeRow, lockRelatedJobs, type RelatedJob } from './related-jobs.ts';
import { retryTransaction } from './retry-transaction.ts';

/**
 * A transaction takes jobs whose children are still to hear of them and as much of what lies below as it may, level by
 * level: a chain is carried as fast as a bush. What it cannot finish stays on the list, so it can be stopped anywhere.
 */
export async function cascade(context: Context, limit: number, signal: AbortSignal): Promise<number> {
  const { sql } = context;
  const { carried, effects } = await retryTransaction(context, signal, async (session) => {
    const heads = await session.query<CascadeEntry>(sql.cascadeHeads, [limit]);
    const gathered = new TransactionEffects();
    const count = heads.length === 0 ? 0 : await carryDown(context, session, { heads, limit, effects: gathered });
    return { carried: count, effects: gathered };
  });
  effects.publish(context);
  return carried;
}

async function carryDown(
  context: Context,
  session: Session,
  { heads, limit, effects }: { heads: readonly CascadeEntry[]; limit: number; effects: TransactionEffects },
): Promise<number> {
  const { sql } = context;
  const locks = new Locks(context, session);
  const listed = entryColumns(heads);
  const below = await session.query<{ id: number }>(sql.below, [...listed, limit]);
  const children = below.map(({ id }) => id);
  const headIds = heads.map(({ id }) => id);
  const { related } = await lockRelatedJobs(context, { session, locks }, { ids: [...headIds, ...children] });

  // Others may have done some of it before we had the locks.
  const rows = await session.query<CascadeEntry>(sql.cascadeRows, [numbers(headIds)]);
  const parents = rows.map(({ id, mode }): Parent => {
    const job = related.get(id);
    const end = job?.ended ? countedEnd(job.status as TerminalStatus, job.continueOnFailure) : null;
    return { id, end, cancelled: mode === 'cancelled' };
  });
  const within = [numbers([...new Set([...headIds, ...children])]), numbers(children)];
  const edges = children.length === 0 ? [] : await session.query<EdgeRow>(sql.edgesWithin, within);
  const propagation = new Propagation(related, edges, effects);
  const carried = carryLevels(propagation, parents, { related, limit, effects });
  await propagation.write(context, session);
  if (rows.length > 0) await session.query(sql.endCascade, entryColumns(rows));
  await effects.write(context, session);
  return carried;
}

/** Those that are left over are on the list. */
function carryLevels(
  propagation: Propagation,
  parents: readonly Parent[],
  { related, limit, effects }: { related: ReadonlyMap<number, RelatedJob>; limit: number; effects: TransactionEffects },
): number {
  let carried = 0;
  for (let level = parents; level.length > 0 && carried < limit; ) {
    const now = level.slice(0, limit - carried);
    carried += now.length;
    const changed = propagation.carry(now);
    for (const parent of changed) {
      const { flags } = related.get(parent.id) as RelatedJob;
      if (flags === null || flags & FLAG.hasChildren) effects.queueCascade(cascadeEntryOf(parent));
    }
    level = changed.filter(({ id }) => propagation.hasEdges(id));
  }
  return carried;
}

/** Jobs whose ends and reopenings still have to reach their children: the table `cascade`. */

import { parentFor } from '../../../core/dag/propagate.ts';
import type { TerminalStatus } from '../../../core/job.ts';
import type { Context } from '../base/context.ts';
import type { Session } from '../base/database.ts';
import { numbers } from '../base/values.ts';
import { type CascadeEntry, entryColumns, TransactionEffects } from './effects.ts';
import { Locks } from './locks.ts';
import { type ParentJob, Propagation } from './propagate.ts';
import { type EdgeRow, lockRelatedJobs } from './related-jobs.ts';
import { retryTransaction } from './retry-transaction.ts';

/**
 * Goes down from these jobs, level by level, until `limit` jobs are done. Returns their number. Jobs that one transaction does
 * not reach stay in the table, so the cascade can be stopped anywhere.
 */
export async function cascade(context: Context, limit: number, signal: AbortSignal): Promise<number> {
  const { sql } = context;
  const { count, effects } = await retryTransaction(context, signal, async (session) => {
    const heads = await session.query<CascadeEntry>(sql.cascadeHeads, [limit]);
    const effects = new TransactionEffects();
    const done = heads.length === 0 ? 0 : await cascadeFrom(context, session, { heads, limit, effects });
    return { count: done, effects };
  });
  effects.publish(context);
  return count;
}

async function cascadeFrom(
  context: Context,
  session: Session,
  { heads, limit, effects }: { heads: readonly CascadeEntry[]; limit: number; effects: TransactionEffects },
): Promise<number> {
  const { sql } = context;
  const locks = new Locks(context, session);
  const below = await session.query<{ id: number }>(sql.below, [...entryColumns(heads), limit]);
  const children = below.map(({ id }) => id);
  const headIds = heads.map(({ id }) => id);
  const { related } = await lockRelatedJobs(context, { session, locks }, { ids: [...headIds, ...children] });

  // Another process may have done some of these jobs before the locks were taken.
  const entries = await session.query<CascadeEntry>(sql.cascadeRows, [numbers(headIds)]);
  const parents = entries.map(({ id, mode }): ParentJob => {
    const job = related.get(id);
    const end = job?.ended ? (job.status as TerminalStatus) : null;
    return { id, ...parentFor(end, job?.continueOnFailure ?? false, mode) };
  });
  const within = [numbers([...new Set([...headIds, ...children])]), numbers(children)];
  const edges = children.length === 0 ? [] : await session.query<EdgeRow>(sql.edgesWithin, within);
  const propagation = new Propagation(related, edges, effects);
  const count = propagateLevels(propagation, parents, limit);
  await propagation.write(context, session);
  if (entries.length > 0) await session.query(sql.endCascade, entryColumns(entries));
  await effects.write(context, session);
  return count;
}

function propagateLevels(propagation: Propagation, parents: readonly ParentJob[], limit: number): number {
  let count = 0;
  for (let level = parents; level.length > 0 && count < limit; ) {
    const now = level.slice(0, limit - count);
    count += now.length;
    level = propagation.propagateFrom(now).filter(({ id }) => propagation.hasEdges(id));
  }
  return count;
}

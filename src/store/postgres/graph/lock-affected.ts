import { StartAgain } from '../../sql/tx.ts';
import type { Context } from '../base/context.ts';
import type { Session } from '../base/database.ts';
import { numbers } from '../base/values.ts';
import type { Transaction } from './transaction.ts';

export interface Intended {
  /** Jobs that are going to end. */
  ends: readonly number[];
  /** Ended jobs that are going to wait again. */
  retries?: readonly number[];
  /** Jobs that change without effect on others. */
  others?: readonly number[];
}

interface AffectedRow {
  what: 'group' | 'child' | 'parent';
  id: number;
}

/**
 * Locks jobs together with those that their ends and retries affect, in one pass (see 'Lock order' in docs/architecture.md). Affected
 * jobs are read before the lock; children inserted in between are locked later, without waiting. A retry also locks the
 * parents that have not ended: whether it has to wait for one must not change.
 */
export async function lockAffected(
  { sql }: Context,
  { session, locks }: Pick<Transaction, 'session' | 'locks'>,
  { ends, retries = [], others = [] }: Intended,
): Promise<void> {
  const own = [...ends, ...retries, ...others];
  // A single job can be locked before its children: their ids are higher.
  if (retries.length === 0 && (ends.length === 0 || own.length === 1)) return await locks.live(own);
  if (retries.length === 0) return await locks.withAffected(ends, others);
  const values = [numbers([...ends, ...retries]), numbers(retries)];
  const rows = await session.query<AffectedRow>(sql.affected, values);
  const those = (what: AffectedRow['what']) => rows.filter((row) => row.what === what).map(({ id }) => id);
  const [groups, children, parents] = [those('group'), those('child'), those('parent')];
  await locks.live([...own, ...children, ...parents], groups);
  if ((await livesOf(sql, session, parents)).some((id) => !locks.holds(id))) throw new StartAgain();
  await locks.ended([...new Set([...retries, ...children, ...groups])].filter((id) => !locks.holds(id)));
}

async function livesOf(sql: Context['sql'], session: Session, ids: readonly number[]): Promise<number[]> {
  if (ids.length === 0) return [];
  const rows = await session.query<{ job_id: number }>(sql.liveOf, [numbers(ids)]);
  return rows.map(({ job_id }) => job_id);
}

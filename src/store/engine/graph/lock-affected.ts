import { columns } from '../../sql/columns.ts';
import { anyOf, sql } from '../../sql/sql.ts';
import { StartAgain, type Tx } from '../../sql/tx.ts';

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

const affectedRow = columns<AffectedRow>({ what: 'text', id: 'bigint' });

/**
 * Locks jobs together with those that their ends and retries affect, in one pass (see 'Lock order' in docs/architecture.md). Affected
 * jobs are read before the lock; children inserted in between are locked later, without waiting. A retry also locks the
 * parents that have not ended: whether it has to wait for one must not change.
 */
export async function lockAffected(tx: Tx, { ends, retries = [], others = [] }: Intended): Promise<void> {
  const { locks } = tx;
  const own = [...ends, ...retries, ...others];
  // A single job can be locked before its children: their ids are higher.
  if (retries.length === 0 && (ends.length === 0 || own.length === 1)) return await locks.live(own);
  if (retries.length === 0) return await locks.withAffected(ends, others);
  const changed = anyOf([...ends, ...retries]);
  const rows = await tx.all(
    affectedRow,
    sql`select 'group' as what, group_id as id from job where id ${changed} and coalesce(group_id, 0) <> 0
      union select 'child', child_id from edge where parent_id ${changed}
      union select 'parent', parent_id from edge where child_id ${anyOf(retries)}`,
  );
  const those = (what: AffectedRow['what']) => rows.filter((row) => row.what === what).map(({ id }) => id);
  const [groups, children, parents] = [those('group'), those('child'), those('parent')];
  await locks.live([...own, ...children, ...parents], groups);
  if ((await locks.lives(parents)).some((id) => !locks.holds(id))) throw new StartAgain();
  await locks.ended([...new Set([...retries, ...children, ...groups])].filter((id) => !locks.holds(id)));
}

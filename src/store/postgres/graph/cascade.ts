/** Carries ends and reopenings of jobs further down. */

import { countedEnd } from '../../../core/dag/conditions.ts';
import type { TerminalStatus } from '../../../core/job.ts';
import { FLAG } from '../../flags.ts';
import type { Context } from '../base/context.ts';
import type { Session } from '../base/database.ts';
import { numbers } from '../base/values.ts';
import { transactAgain } from './again.ts';
import { Carrier, heraldOf, type Parent } from './carrier.ts';
import { type EdgeRow, type Kin, lockKin } from './kin.ts';
import { Locks } from './locks.ts';
import { type Herald, Tally } from './tally.ts';

/**
 * A transaction takes jobs whose children are still to hear of them and as much of what lies below as it may, level by
 * level: a chain is carried as fast as a bush. What it cannot finish stays on the list, so it can be stopped anywhere.
 */
export async function cascade(context: Context, limit: number, signal: AbortSignal): Promise<number> {
  const { sql } = context;
  const { carried, tally } = await transactAgain(context, signal, async (session) => {
    const heads = await session.query<Herald>(sql.cascadeHeads, [limit]);
    const ledger = new Tally();
    const count = heads.length === 0 ? 0 : await carryDown(context, session, { heads, limit, tally: ledger });
    return { carried: count, tally: ledger };
  });
  tally.tell(context);
  return carried;
}

async function carryDown(
  context: Context,
  session: Session,
  { heads, limit, tally }: { heads: readonly Herald[]; limit: number; tally: Tally },
): Promise<number> {
  const { sql } = context;
  const locks = new Locks(context, session);
  const listed = heraldColumns(heads);
  const below = await session.query<{ id: number }>(sql.below, [...listed, limit]);
  const children = below.map(({ id }) => id);
  const headIds = heads.map(({ id }) => id);
  const { kin } = await lockKin(context, { session, locks }, { ids: [...headIds, ...children] });

  // Others may have done some of it before we had the locks.
  const rows = await session.query<Herald>(sql.cascadeRows, [numbers(headIds)]);
  const parents = rows.map(({ id, mode }): Parent => {
    const job = kin.get(id);
    const end = job?.ended ? countedEnd(job.status as TerminalStatus, job.continueOnFailure) : null;
    return { id, end, cancelled: mode === 'cancelled' };
  });
  const within = [numbers([...new Set([...headIds, ...children])]), numbers(children)];
  const edges = children.length === 0 ? [] : await session.query<EdgeRow>(sql.edgesWithin, within);
  const carrier = new Carrier(kin, edges, tally);
  const carried = carryLevels(carrier, parents, { kin, limit, tally });
  await carrier.write(context, session);
  if (rows.length > 0) await session.query(sql.endCascade, heraldColumns(rows));
  await tally.write(context, session);
  return carried;
}

/** Those that are left over are on the list. */
function carryLevels(
  carrier: Carrier,
  parents: readonly Parent[],
  { kin, limit, tally }: { kin: ReadonlyMap<number, Kin>; limit: number; tally: Tally },
): number {
  let carried = 0;
  for (let level = parents; level.length > 0 && carried < limit; ) {
    const now = level.slice(0, limit - carried);
    carried += now.length;
    const changed = carrier.carry(now);
    for (const parent of changed) {
      const { flags } = kin.get(parent.id) as Kin;
      if (flags === null || flags & FLAG.hasChildren) tally.queue(heraldOf(parent));
    }
    level = changed.filter(({ id }) => carrier.hasEdges(id));
  }
  return carried;
}

function heraldColumns(heralds: readonly Herald[]): [string, string[]] {
  return [numbers(heralds.map(({ id }) => id)), heralds.map(({ mode }) => mode)];
}

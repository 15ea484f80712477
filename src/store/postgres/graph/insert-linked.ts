/** Inserts jobs that depend on others, and steps of workflows. */

import type { EdgeCounters } from '../../../core/dag/edge-counters.ts';
import type { Placement } from '../../engine/graph/edges.ts';
import { FLAG } from '../../flags.ts';
import type { LinkedJob } from '../../sql/tx.ts';
import type { Context } from '../base/context.ts';
import type { Session } from '../base/database.ts';
import { numbers } from '../base/values.ts';
import { columnsOf, ownFlags, PIECE } from '../jobs/insert-rows.ts';

/** Inserts jobs without their edges. Returns their ids, in ascending order. */
export async function insertLinked(
  { sql }: Context,
  session: Session,
  linked: readonly LinkedJob[],
  lanes: readonly number[],
): Promise<number[]> {
  const ids: number[] = [];
  for (let start = 0; start < linked.length; start += PIECE) {
    const piece = linked.slice(start, start + PIECE);
    const columns = columnsOf(
      piece.map(({ job }) => job),
      lanes.slice(start, start + PIECE),
    );
    const counter = (name: keyof EdgeCounters) =>
      numbers(piece.map(({ placement }) => (hasParents(placement) ? placement.counters[name] : null)));
    const [row] = await session.query<{ ids: number[] }>(sql.insertLinked, [
      ...columns,
      numbers(
        piece.map(({ job, placement, flags }) => {
          const timeFlag = job.startTimeoutMs === null ? FLAG.hasNoStartTimeout : 0;
          return ownFlags(job) | flags | timeFlag | (hasParents(placement) ? FLAG.hasParents : 0);
        }),
      ),
      piece.map(({ placement }) => placement.fate),
      counter('open'),
      counter('held'),
      counter('broken'),
      counter('missed'),
      numbers(piece.map(({ step }) => step?.workflowId ?? null)),
      piece.map(({ step }) => step?.key ?? null),
      numbers(piece.map(({ step }) => step?.keepFrom ?? null)),
    ]);
    ids.push(...(row?.ids ?? []));
  }
  return ids;
}

function hasParents({ counters }: Placement): boolean {
  return counters.open + counters.held + counters.broken + counters.missed > 0;
}

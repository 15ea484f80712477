import type { Dependency } from '../../../core/job.ts';
import { FLAG } from '../../flags.ts';
import { raw, sql } from '../../sql/sql.ts';
import type { Tx } from '../../sql/tx.ts';
import { listed } from '../standing.ts';
import { edgesOf, insertEdges, type ParentEnds, placementOf } from './edges.ts';
import { endLive } from './end-live.ts';

interface Relinked {
  jobId: number;
  /** The flags of its live row. */
  flags: number;
  dependsOn: readonly Dependency[];
  ends: ParentEnds;
}

/** Gives a waiting job that has the live row of a new one without parents its dependencies, instead of those that it had. */
export async function relink(tx: Tx, { jobId, flags, dependsOn, ends }: Relinked): Promise<void> {
  if (!(flags & FLAG.hasParents) && dependsOn.length === 0) return;
  await tx.run(sql`delete from edge where child_id = ${jobId}`);
  await insertEdges(tx, edgesOf(jobId, dependsOn, ends));
  const { counters, fate } = placementOf(dependsOn, ends, 'each');
  if (fate === 'upstream_failed' || fate === 'condition') {
    await tx.runTogether(endLive([{ jobId, status: 'skipped', reason: fate, error: null }]));
    tx.graphUpdate.ended([{ jobId, flags, status: 'skipped' }]);
    return;
  }
  const { open, held, broken, missed } = counters;
  const linked = dependsOn.length === 0 ? sql`0` : hasParents;
  const waits = fate === 'wait' ? sql`${listed} = 'blocked', expires_at = null,` : sql``;
  await tx.run(sql`update live set ${waits} open_edges = ${open}, held_edges = ${held}, broken_edges = ${broken},
      missed_edges = ${missed}, flags = flags & ~${raw(`${FLAG.hasParents}`)} | ${linked}
    where job_id = ${jobId}`);
}

/** A job that does not expire has no start timeout. */
const hasParents = raw(`${FLAG.hasParents} | case when expires_at is null then ${FLAG.hasNoStartTimeout} else 0 end`);

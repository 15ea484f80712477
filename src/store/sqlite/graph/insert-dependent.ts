/** Inserts jobs of a call if one of them has parents. */

import type { Dependency } from '../../../core/job.ts';
import { edgesOf, type ParentEnds, placementOf } from '../../engine/graph/edges.ts';
import { FLAG } from '../../flags.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';
import type { NewJobRow } from '../jobs/new-job-row.ts';
import { NEW_JOB } from '../sql/insert.ts';
import { insertEdges } from './edges.ts';
import { insertLinked } from './insert-linked.ts';

interface DependentJob {
  row: NewJobRow;
  flags: number;
  /** Empty for a job without parents. */
  dependencies: readonly Dependency[];
}

/** Inserts each job as blocked, free or skipped, by the states of its parents. Returns the ids. */
export function insertDependent(
  context: Context,
  jobs: readonly DependentJob[],
  { lanes, ends }: { lanes: readonly string[]; ends: ParentEnds },
): number[] {
  const { database, effects, graphUpdate } = context;
  const linked = jobs.map((job) => ({ ...job, placement: placementOf(job.dependencies, ends, 'each'), step: null }));
  const ids = insertLinked(context, linked, lanes);
  const edges = jobs.flatMap(({ dependencies }, index) => edgesOf(ids[index] as number, dependencies, ends));
  insertEdges(context, edges);
  linked.forEach(({ row, flags, placement: { fate } }, index) => {
    const jobId = ids[index] as number;
    effects.changedJob(jobId);
    if (fate === 'free') graphUpdate.jobIs(jobId, { status: row[NEW_JOB.status], due: row[NEW_JOB.dueAt] });
    // A job that is skipped at once releases its key for a later one of the call.
    else if (fate !== 'wait' && flags & FLAG.holdsKey) database.run(sql.freeKeys, JSON.stringify([jobId]));
  });
  return ids;
}

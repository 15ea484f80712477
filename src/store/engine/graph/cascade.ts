/** Jobs whose ends and reopenings still have to reach their children: the table `cascade`. */

import { CONDITIONS, SATISFIED_BY } from '../../../core/dag/conditions.ts';
import { type CascadeMode, parentFor } from '../../../core/dag/propagate.ts';
import type { TerminalStatus } from '../../../core/job.ts';
import { columns } from '../../sql/columns.ts';
import { alsoAnyOf, anyOf, eachOf, type Fragment, raw, sql } from '../../sql/sql.ts';
import { many, type Tx } from '../../sql/tx.ts';
import { continues, isFinal, lookedUp } from '../standing.ts';
import { edge, edgesFrom, edgesInto } from './edges.ts';
import { type ParentJob, Propagation } from './propagation.ts';
import { lockRelatedJobs } from './related-jobs.ts';

interface Entry {
  jobId: number;
  mode: CascadeMode;
}

const entry = columns<Entry>({ jobId: 'bigint', mode: 'text' });
const jobRow = columns<{ jobId: number }>({ jobId: 'bigint' });

/** The state of edge `e` after the end of job `h`, as `edgeStateFor` in core/dag/conditions.ts. */
const stateAfter = raw(
  `case when h.ended is null then 'open' when ${CONDITIONS.map((condition) => {
    const ends = SATISFIED_BY[condition].map((status) => `'${status}'`).join(', ');
    return `(e.condition = '${condition}' and h.ended in (${ends}))`;
  }).join(' or ')} then 'held' else 'impossible' end`,
);

/** True if the child of edge `e` was never claimed or, a group, freed. */
const neverStarted = sql`(exists (
    select 1 from live l where l.job_id = e.child_id and l.attempt = 0 and l.started_at is null ${lookedUp})
  or exists (select 1 from run r
    where r.job_id = e.child_id and ${isFinal('r')} and r.attempts = 0 and r.started_at is null ${lookedUp}))`;

/** True if edge `e` has to move for the state of its parent `h`, by the rule of `propagate` in core/dag/propagate.ts. */
const isStale = sql`e.state <> ${stateAfter} and (e.state = 'open' or ${neverStarted})`;

const hasStale = sql`exists (select 1 from edge e where e.parent_id = h.job_id and ${isStale})`;

/** Jobs `h` with their counted ends; `ended` is null while they have not ended. */
function seen(entries: readonly Entry[]): Fragment {
  const ids = entries.map(({ jobId }) => jobId);
  return sql`h as materialized (
    select i.job_id, i.mode, case when r.status = 'failed' and ${continues} then 'done' else r.status end as ended
    from ${entry.input(entries)} i join job j on j.id = i.job_id ${alsoAnyOf('j.id', ids)}
      left join run r on r.job_id = i.job_id and ${isFinal('r')} ${alsoAnyOf('r.job_id', ids)})`;
}

/** Queues jobs if one of their edges has to move. Returns whether one was queued. */
export async function queueCascade(tx: Pick<Tx, 'all'>, jobs: ReadonlyMap<number, CascadeMode>): Promise<boolean> {
  const entries = [...jobs].map(([jobId, mode]) => ({ jobId, mode }));
  const queued = await tx.all(
    jobRow,
    sql`with ${seen(entries)}
      insert into cascade (job_id, mode) select h.job_id, h.mode from h where ${hasStale}
      on conflict (job_id) do update set mode = excluded.mode returning job_id`,
  );
  return queued.length > 0;
}

/**
 * Goes down from these jobs, level by level, until `limit` jobs are done. Returns their number. Jobs that one transaction does
 * not reach stay in the table, so the cascade can be stopped anywhere.
 */
async function cascade(tx: Tx, limit: number): Promise<number> {
  const heads = await tx.all(entry, sql`select ${entry} from cascade order by job_id limit ${limit}`);
  if (heads.length === 0) return 0;
  const children = (await tx.all(jobRow, below(heads, limit))).map(({ jobId }) => jobId);
  const headIds = heads.map(({ jobId }) => jobId);
  const related = await lockRelatedJobs(tx, { ids: [...headIds, ...children] });

  // Another process may have done some of these jobs before the locks were taken.
  const entries = await tx.all(entry, sql`select ${entry} from cascade where job_id ${anyOf(headIds)}`);
  const parents = entries.map(({ jobId, mode }): ParentJob => {
    const job = related.get(jobId);
    const end = job?.ended ? (job.status as TerminalStatus) : null;
    return { id: jobId, ...parentFor(end, job?.continueOnFailure ?? false, mode) };
  });
  // `+ 0`: read by child, then filtered by parent. With two lists the index would be searched for every pair.
  const within = [...new Set([...headIds, ...children])];
  const edges =
    children.length === 0
      ? []
      : await tx.all(
          edge,
          sql`select ${edge.of('e')} from ${eachOf(children)} ${edgesInto('i.value')}
            where e.parent_id + 0 in (select i.value from ${eachOf(within)}) order by e.parent_id, e.child_id`,
        );
  const propagation = new Propagation(tx, related, edges);
  const count = propagateLevels(propagation, parents, limit);
  await propagation.write();
  if (entries.length > 0) {
    await tx.run(sql`with ${seen(entries)}
      delete from cascade where job_id in (select h.job_id from h where not ${hasStale})`);
  }
  return count;
}

/** The children that jobs affect, then those that may follow below, nearest first, no more than `limit`. */
function below(heads: readonly Entry[], limit: number): Fragment {
  const follows = sql`case when d.lives then e.state <> 'open' and ${neverStarted} else e.state = 'open' end`;
  return sql`with recursive ${seen(heads)},
    down(job_id, lives) as (
      select * from (select e.child_id, h.ended is null from h ${edgesFrom('h.job_id', isStale)} limit ${limit}) first
      union select e.child_id, d.lives from down d ${edgesFrom('d.job_id', follows)})
    select job_id from down limit ${limit}`;
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

export const cascadeMethods = { cascade: many('write', cascade) };

/** Gives ended jobs a live row again. */

import type { EdgeCounters } from '../../../core/dag/edge-counters.ts';
import type { JobSpec } from '../../../core/job.ts';
import { laneKey, laneOf } from '../../../core/lane.ts';
import { mayPrefetch } from '../../../core/prefetch.ts';
import { FLAG, specFlags } from '../../flags.ts';
import { decodeSpec, type SpecColumns } from '../../spec.ts';
import { columns } from '../../sql/columns.ts';
import { after, alsoAnyOf, anyOf, now, raw, sql } from '../../sql/sql.ts';
import type { Tx } from '../../sql/tx.ts';
import { isFinal, listed, lookedUp } from '../standing.ts';

export interface PlaceRow extends SpecColumns {
  id: number;
  workflowId: number | null;
  groupId: number | null;
  isGroup: boolean;
  hasChildren: boolean;
  hasParents: boolean;
  hasSteps: boolean;
}

export const placeRow = columns<PlaceRow>({
  id: 'bigint',
  queue: 'text',
  kind: 'text',
  name: 'text',
  priority: 'int',
  tags: 'json',
  spec: 'json',
  workflowId: 'bigint',
  groupId: 'bigint',
  isGroup: 'bool',
  hasChildren: 'bool',
  hasParents: 'bool',
  hasSteps: 'bool',
});

/** What `placesOf` needs of a job `j`. */
export const placeColumns = sql`j.id, j.queue, j.kind, j.name, j.priority, j.tags, j.spec, j.workflow_id, j.group_id,
  exists (select 1 from job_group g where g.job_id = j.id ${lookedUp}) as is_group,
  exists (select 1 from edge e where e.parent_id = j.id ${lookedUp}) as has_children,
  exists (select 1 from edge e where e.child_id = j.id ${lookedUp}) as has_parents,
  exists (select 1 from durable d where d.job_id = j.id ${lookedUp}) as has_steps`;

/** The columns that a job needs to wait again. An ended job is never edited, so they do not change. */
export interface Place {
  lane: number;
  /** The line of a schedule that it runs for. A step has none: its workflow is the run. */
  line: number | null;
  /** Its unique key is not taken again. */
  flags: number;
  startTimeoutMs: number | null;
}

export async function placesToWait(tx: Tx, ids: readonly number[]): Promise<Map<number, Place>> {
  return placesOf(tx, await tx.all(placeRow, sql`select ${placeColumns} from job j where j.id ${anyOf(ids)}`));
}

/** On PostgreSQL, the transaction begins again if a lane is not known. */
export function placesOf(tx: Tx, rows: readonly PlaceRow[]): Map<number, Place> {
  const specs = rows.map(decodeSpec);
  const lanes = tx.laneIds(specs.map((spec) => laneKey(laneOf(spec))));
  return new Map(
    rows.map((row, index) => {
      const spec = specs[index] as JobSpec;
      const { tick, startTimeoutMs } = spec;
      const line = tick === null || row.workflowId !== null ? null : tick.line;
      const timeout = startTimeoutMs === null ? null : Math.round(startTimeoutMs);
      return [row.id, { lane: lanes[index] as number, line, flags: flagsOf(row, spec), startTimeoutMs: timeout }];
    }),
  );
}

function flagsOf(row: PlaceRow, spec: JobSpec): number {
  const { workflowId, groupId, isGroup, hasChildren, hasParents, hasSteps } = row;
  return (
    (hasChildren ? FLAG.hasChildren : 0) |
    (hasParents ? FLAG.hasParents : 0) |
    (hasSteps ? FLAG.hasSteps : 0) |
    (isGroup ? FLAG.group : 0) |
    (workflowId === null ? 0 : FLAG.inWorkflow) |
    (groupId === null ? 0 : FLAG.item) |
    (mayPrefetch(spec) ? 0 : FLAG.neverPrefetched) |
    (spec.startTimeoutMs === null ? FLAG.hasNoStartTimeout : 0) |
    specFlags(groupId === null ? spec : { ...spec, notify: [] })
  );
}

export interface Revived extends Place {
  jobId: number;
  /** `free`: scheduled or pending. */
  status: 'blocked' | 'free' | 'running';
  due: number;
  /** The group starts now. */
  restarts: boolean;
  counters: EdgeCounters;
}

interface RevivedRow extends Omit<Revived, 'counters' | 'due'> {
  openEdges: number;
  heldEdges: number;
  brokenEdges: number;
  missedEdges: number;
}

const revivedRow = columns<RevivedRow>({
  jobId: 'bigint',
  status: 'text',
  restarts: 'bool',
  lane: 'int',
  line: 'bigint',
  flags: 'int',
  startTimeoutMs: 'real',
  openEdges: 'int',
  heldEdges: 'int',
  brokenEdges: 'int',
  missedEdges: 'int',
});

const ready = sql`case when r.due > ${now} then r.due else ${now} end`;

/** Ended jobs that never started, and groups, wait again or run again. They are locked. */
export async function revive(tx: Tx, jobs: readonly Revived[]): Promise<void> {
  const ids = jobs.map(({ jobId }) => jobId);
  const running = jobs.filter(({ status }) => status === 'running').map(({ jobId }) => jobId);
  const rows = jobs.map(({ counters, due: _due, ...job }): RevivedRow => {
    const { open, held, broken, missed } = counters;
    return { ...job, openEdges: open, heldEdges: held, brokenEdges: broken, missedEdges: missed };
  });
  const written = await tx.runTogether([
    sql`insert into live (job_id, ${listed}, lane, rank, due, attempt, failures, interruptions, snoozes, losses, worker_id,
        started_at, expires_at, flags, line, open_edges, held_edges, broken_edges, missed_edges)
      select i.job_id, case when i.status <> 'free' then i.status when r.due > ${now} then 'scheduled' else 'pending' end,
        i.lane, -j.priority, r.due, r.attempts, r.failures, r.interruptions, r.snoozes, r.losses, r.worker_id,
        case when i.restarts then ${now} else r.started_at end,
        case when i.status = 'free' then ${after(ready, raw('i.start_timeout_ms'))} end,
        i.flags, i.line, i.open_edges, i.held_edges, i.broken_edges, i.missed_edges
      from ${revivedRow.input(rows)} i join run r on r.job_id = i.job_id and ${isFinal('r')}
          ${alsoAnyOf('r.job_id', ids)} join job j on j.id = i.job_id`,
    sql`delete from run where job_id ${anyOf(ids)} and ${isFinal('run')}`,
    sql`delete from result where job_id ${anyOf(running)}`,
    sql`update job_group set needs_items = true where job_id ${anyOf(running)}`,
  ]);
  tx.locks.made(ids);
  for (const { jobId, status, flags, due } of jobs) {
    if (status !== 'blocked') tx.graphUpdate.freed({ id: jobId, flags, due }, written.now);
  }
}

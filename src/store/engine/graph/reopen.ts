/** A person's retry: the final row of a job is taken back under its lock, and the job waits again. */

import { addEdge, type EdgeCounters, openEdges } from '../../../core/dag/edge-counters.ts';
import type { Fence } from '../../../core/fence.ts';
import type { Counters } from '../../../core/job.ts';
import type { Change } from '../../../core/transition.ts';
import { FLAG } from '../../flags.ts';
import { keyHeldByOther } from '../../refusals.ts';
import { columns } from '../../sql/columns.ts';
import { after, alsoAnyOf, anyOf, now, type Part, raw, sql } from '../../sql/sql.ts';
import type { Tx } from '../../sql/tx.ts';
import { counter, isFinal, listed, lookedUp } from '../standing.ts';
import { type Edge, edge, edgeState } from './edges.ts';
import { lockRelatedJobs, type RelatedJob } from './related-jobs.ts';
import { type Place, type PlaceRow, placeColumns, placeRow, placesOf } from './revive.ts';

type Reopening = Extract<Change, { kind: 'reopen' }>;

interface FenceRow extends Counters, Pick<Fence, 'jobId' | 'status' | 'attempt' | 'cancelRequested'> {}

const fenceRow = columns<FenceRow>({
  jobId: 'bigint',
  status: 'text',
  attempt: 'int',
  cancelRequested: 'bool',
  failures: 'int',
  interruptions: 'int',
  snoozes: 'int',
  losses: 'int',
});

type MatchedRow = PlaceRow & { holder: number | null; key: string | null };

const matchedRow = placeRow.with<MatchedRow>({ holder: 'bigint', key: 'text' });
const edgeRow = edge.with<Edge & { parentLives: boolean }>({ parentLives: 'bool' });

interface LiveRow extends Counters, Place {
  jobId: number;
  status: 'blocked' | 'running' | 'pending';
  attempt: number;
  openEdges: number | null;
  heldEdges: number | null;
  brokenEdges: number | null;
  missedEdges: number | null;
}

const liveRow = columns<LiveRow>({
  jobId: 'bigint',
  status: 'text',
  lane: 'int',
  line: 'bigint',
  flags: 'int',
  startTimeoutMs: 'real',
  attempt: 'int',
  failures: 'int',
  interruptions: 'int',
  snoozes: 'int',
  losses: 'int',
  openEdges: 'int',
  heldEdges: 'int',
  brokenEdges: 'int',
  missedEdges: 'int',
});

/** Returns the jobs whose fences still matched. All affected jobs are locked. */
export async function reopen(tx: Tx, changes: readonly Reopening[]): Promise<number[]> {
  if (changes.length === 0) return [];
  const before = await lockRelatedJobs(tx, { ids: changes.map(({ fence }) => fence.jobId) });
  const matched = await matching(tx, changes);
  if (matched.length === 0) return [];
  const places = placesOf(tx, matched);
  const reopened = changes.filter(({ fence }) => places.has(fence.jobId));
  const { counters, opened } = await edgesAfter(tx, reopened);
  const rows = reopened.map(({ fence: { jobId, attempt }, counters: own }): LiveRow => {
    const place = places.get(jobId) as Place;
    const sum = counters.get(jobId);
    const waits = sum !== undefined && sum.open > 0;
    const status = waits ? 'blocked' : place.flags & FLAG.group ? 'running' : 'pending';
    return { jobId, status, attempt, ...own, ...place, ...edgeColumns(sum) };
  });
  const instant = await write(tx, rows, opened);
  tx.graphUpdate.reopened(
    rows.map(({ jobId, flags }) => {
      return { ...(before.get(jobId) as RelatedJob), hasChildren: (flags & FLAG.hasChildren) !== 0 };
    }),
  );
  for (const { jobId, status } of rows) {
    tx.effects.changedJob(jobId);
    tx.graphUpdate.jobIs(jobId, { status, due: instant });
  }
  return rows.map(({ jobId }) => jobId);
}

/**
 * Reads the jobs that are still as their changes expect. A reopened job does not take its unique key again, but no other job may
 * hold it.
 */
async function matching(tx: Tx, changes: readonly Reopening[]): Promise<MatchedRow[]> {
  const fences = changes.map(({ fence }): FenceRow => {
    const { jobId, status, attempt, cancelRequested, counters } = fence;
    return { jobId, status, attempt, cancelRequested, ...counters };
  });
  const ids = fences.map(({ jobId }) => jobId);
  const matched = await tx.all(
    matchedRow,
    sql`select ${placeColumns}, k.job_id as holder, k.key
      from ${fenceRow.input(fences)} i join run r on r.job_id = i.job_id and ${isFinal('r')} ${alsoAnyOf('r.job_id', ids)}
        and r.status = i.status and r.attempts = i.attempt and (r.cancel_requested_at is not null) = i.cancel_requested
        and coalesce(r.failures, 0) = i.failures and coalesce(r.interruptions, 0) = i.interruptions
        and coalesce(r.snoozes, 0) = i.snoozes and coalesce(r.losses, 0) = i.losses
      join job j on j.id = i.job_id
      left join unique_key k on k.key = j.spec ->> 'unique_key' and k.job_id <> j.id
        and (k.expires_at is null or k.expires_at > ${now})`,
  );
  const conflict = matched.find(({ holder }) => holder !== null);
  if (conflict !== undefined) throw keyHeldByOther(conflict.id, conflict.key as string, conflict.holder as number);
  return matched;
}

/** A job waits for those of its parents that have not ended, or are retried before it; how the others ended no longer matters. */
async function edgesAfter(tx: Tx, reopened: readonly Reopening[]) {
  const order = new Map(reopened.map(({ fence }, place) => [fence.jobId, place]));
  const edges = await tx.all(
    edgeRow,
    sql`select e.parent_id, e.child_id, e.condition, ${edgeState} as state,
        exists (select 1 from live l where l.job_id = e.parent_id ${lookedUp}) as parent_lives
      from edge e where e.child_id ${anyOf([...order.keys()])}`,
  );
  const counters = new Map<number, EdgeCounters>();
  const opened: Edge[] = [];
  for (const one of edges) {
    const retried = (order.get(one.parentId) ?? Number.POSITIVE_INFINITY) < (order.get(one.childId) as number);
    const isOpen = one.parentLives || retried;
    const state = isOpen ? 'open' : one.state;
    if (isOpen && one.state !== 'open') opened.push(one);
    counters.set(one.childId, addEdge(counters.get(one.childId) ?? openEdges(0), { ...one, state }));
  }
  return { counters, opened };
}

function edgeColumns(sum: EdgeCounters | undefined) {
  return {
    openEdges: sum?.open ?? null,
    heldEdges: sum?.held ?? null,
    brokenEdges: sum?.broken ?? null,
    missedEdges: sum?.missed ?? null,
  };
}

/** The final row becomes an attempt like the others, or is deleted if there was none. Returns the instant. */
async function write(tx: Tx, rows: readonly LiveRow[], opened: readonly Edge[]): Promise<number> {
  const ids = rows.map(({ jobId }) => jobId);
  const groups = rows.filter(({ status }) => status === 'running').map(({ jobId }) => jobId);
  const again: Part = after(now, raw('i.start_timeout_ms'));
  const written = await tx.runTogether([
    sql`insert into live (job_id, ${listed}, lane, rank, due, attempt, failures, interruptions, snoozes, losses, worker_id,
        started_at, expires_at, flags, line, open_edges, held_edges, broken_edges, missed_edges)
      select i.job_id, i.status, i.lane, -j.priority, ${now}, i.attempt, ${counter('i.failures')},
        ${counter('i.interruptions')}, ${counter('i.snoozes')}, ${counter('i.losses')}, r.worker_id,
        case when i.status = 'running' then ${now} else r.started_at end,
        case when i.status = 'pending' then ${again} end,
        i.flags, i.line, i.open_edges, i.held_edges, i.broken_edges, i.missed_edges
      from ${liveRow.input(rows)} i join run r on r.job_id = i.job_id and ${isFinal('r')} ${alsoAnyOf('r.job_id', ids)}
        join job j on j.id = i.job_id`,
    sql`delete from run where job_id ${anyOf(ids)} and attempt = 0`,
    sql`update run set status = null, reason = null, due = null, attempts = null, failures = null, interruptions = null,
        snoozes = null, losses = null, cancel_requested_at = null
      where job_id ${anyOf(ids)} and attempt > 0 and ${isFinal('run')}`,
    sql`delete from result where job_id ${anyOf(ids)}`,
    ...(opened.length === 0 ? [] : [openEdgesAgain(opened)]),
    ...(groups.length === 0 ? [] : [sql`update job_group set needs_items = true where job_id ${anyOf(groups)}`]),
  ]);
  tx.locks.made(ids);
  return written.now;
}

function openEdgesAgain(edges: readonly Edge[]) {
  const children = [...new Set(edges.map(({ childId }) => childId))];
  return sql`update edge set state = 'open' from ${edge.input(edges)} i
    where edge.child_id = i.child_id and edge.parent_id = i.parent_id ${alsoAnyOf('edge.child_id', children)}`;
}

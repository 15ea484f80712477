import { WorkronError } from '../../../core/error.ts';
import type { ClaimedJob, ParentEnd } from '../../../core/job.ts';
import { fits, type Lane, serves } from '../../../core/lane.ts';
import { laneMayPrefetch, mayPrefetch } from '../../../core/prefetch.ts';
import type { ClaimRequest } from '../../job-store.ts';
import { type Entry, toClaimedJob } from '../base/entry.ts';
import { isAhead, type LaneLine } from '../base/live.ts';
import { change, isSilent, type Tables } from '../base/tables.ts';
import { runContextOf } from '../graph/run-context.ts';
import { stepStarted } from '../graph/workflow-row.ts';
import { dropKey } from './unique.ts';

export function claim(tables: Tables, request: ClaimRequest): ClaimedJob[] {
  const worker = tables.workers.get(request.workerId);
  if (worker === undefined || worker.offline) {
    throw new WorkronError('worker_not_found', `Worker ${request.workerId} is not registered; register again`);
  }
  if (worker.draining || isSilent(tables, worker)) return [];

  const lanes = new Set([...tables.live.lanes()].filter(({ lane }) => serves(request.offer, lane)));
  const free = { ...request.offer.free };
  const claimed: ClaimedJob[] = [];
  const parentEnds = new Map<number, ParentEnd>();
  while (claimed.length < request.limit) {
    const best = bestOf(tables, lanes, free);
    if (best === undefined) break;
    const entry = best.line.peek() as Entry;
    if (request.prefetch && !mayBePrefetched(tables, entry, best.lane)) break;
    for (const [name, amount] of Object.entries(best.lane.resources)) free[name] = (free[name] ?? 0) - amount;
    claimed.push(hand(tables, entry, { request, parentEnds }));
    if (best.line.size === 0) lanes.delete(best);
  }
  return claimed;
}

/** Returns the lane with the most urgent job that can be claimed. Deletes lanes from which no job can be claimed. */
function bestOf(tables: Tables, lanes: Set<LaneLine>, free: Readonly<Record<string, number>>): LaneLine | undefined {
  let best: LaneLine | undefined;
  for (const candidate of lanes) {
    if (fits(candidate.lane, free, 1) < 1 || !hasRoom(tables, candidate.lane.queue)) lanes.delete(candidate);
    else if (best === undefined || isAhead(candidate.line.peek() as Entry, best.line.peek() as Entry)) best = candidate;
  }
  return best;
}

function hasRoom(tables: Tables, queue: string): boolean {
  const row = tables.queues.get(queue);
  if (row === undefined) return true;
  if (row.pausedAt !== null) return false;
  return row.maxRunning === null || tables.live.counts(queue).running < row.maxRunning;
}

function mayBePrefetched(tables: Tables, entry: Entry, lane: Lane): boolean {
  const isLimited = tables.queues.get(lane.queue)?.maxRunning != null;
  return laneMayPrefetch(lane) && mayPrefetch(entry.spec) && entry.counters.failures === 0 && !isLimited;
}

function hand(
  tables: Tables,
  entry: Entry,
  { request, parentEnds }: { request: ClaimRequest; parentEnds: Map<number, ParentEnd> },
): ClaimedJob {
  const { workerId, claimSeq, prefetch = false } = request;
  const now = tables.clock.now();
  change(tables, entry, {
    status: 'running',
    attempt: entry.attempt + 1,
    workerId,
    claimSeq,
    startedAt: prefetch ? null : now,
    renewedAt: claimSeq === null ? now : null,
  });
  dropKey(tables, entry, ['pending']);
  tables.changes.changedJob(entry.id);
  stepStarted(tables, entry);
  return toClaimedJob({ ...entry, startedAt: now }, prefetch, runContextOf(tables, entry, parentEnds));
}

import { laneFromKey } from '../../../core/lane.ts';
import { claimLimitOf, couldRun, type Outlook, offerOf, outlookOf } from '../../../core/outlook.ts';
import { Heap } from '../../heap.ts';
import type { Entry } from '../base/entry.ts';
import { isAhead } from '../base/live.ts';
import { mayClaim, type Tables } from '../base/tables.ts';
import { workers } from '../cluster/workers.ts';
import { choose } from './claim.ts';
import { heldPlaces } from './gangs.ts';

/** Runs the claim of each worker on copies of the lines. */
export function outlook(tables: Tables, jobId: number): Outlook[] {
  const entry = tables.jobs.get(jobId);
  if (entry?.status !== 'pending') return [];
  const own = tables.live.lane(entry.lane)?.lane ?? laneFromKey(entry.lane);
  const able = workers(tables).filter(
    (worker) => couldRun(worker, own) && mayClaim(tables, tables.workers.get(worker.id)),
  );
  return able.map((worker) => {
    const request = { workerId: worker.id, limit: claimLimitOf(worker), offer: offerOf(worker), claimSeq: null };
    const lines = [...tables.live.lanes()].map(({ lane, line }) => ({ lane, line: copyOf(line) }));
    const choice = choose(tables, request, {
      held: heldPlaces(tables, worker.id),
      lines,
      take: (taken, { line }) => void line.delete(taken),
    });
    return outlookOf(worker, { id: jobId, lane: own }, choice);
  });
}

function copyOf(line: Heap<Entry>): Heap<Entry> {
  const copy = new Heap<Entry>(isAhead);
  for (const entry of line.values()) copy.add(entry);
  return copy;
}

import { memberOutlook } from '../../../core/claim-places.ts';
import { laneFromKey, laneKey } from '../../../core/lane.ts';
import { fullMeter, type MeterUse, metersOf, withStart } from '../../../core/meter.ts';
import { claimLimitOf, couldRun, type Outlook, offerOf, outlookOf } from '../../../core/outlook.ts';
import type { WorkerRow } from '../../../core/worker.ts';
import { Heap } from '../../heap.ts';
import type { Entry } from '../base/entry.ts';
import { isAhead, type LaneLine } from '../base/live.ts';
import { mayClaim, type Tables } from '../base/tables.ts';
import { workers } from '../cluster/workers.ts';
import { type Candidates, choose, Headroom } from './claim.ts';
import { allPlaces, heldPlaces } from './gangs.ts';
import { useOf } from './meters.ts';

/** Runs the claim of each worker on copies of the lanes and parkings. */
export function outlook(tables: Tables, jobId: number): Outlook[] {
  const entry = tables.jobs.get(jobId);
  if (entry?.status !== 'pending') return [];
  const own = laneFromKey(entry.lane);
  if (own.gang) {
    const headroom = new Headroom(tables);
    const claiming = workers(tables).filter(({ id }) => mayClaim(tables, tables.workers.get(id)));
    return memberOutlook(jobId, {
      workers: claiming,
      places: allPlaces(tables),
      left: ({ queue }) => headroom.left(queue),
    });
  }
  const able = workers(tables).filter(
    (worker) => couldRun(worker, own) && mayClaim(tables, tables.workers.get(worker.id)),
  );
  return able.map((worker) => {
    const request = { workerId: worker.id, limit: claimLimitOf(worker), offer: offerOf(worker), claimSeq: null };
    const lines = linesOf(tables).map(({ lane, line }) => ({
      lane: laneKey(lane) === entry.lane ? own : lane,
      line: copyOf(line),
    }));
    const choice = choose(tables, request, { lines, ...withoutWriting(tables, worker) });
    return outlookOf(worker, { id: jobId, lane: own }, choice);
  });
}

/** The lanes and parkings that a claim may look at. Closed parkings too: what their keys allow is asked again. */
function linesOf({ live }: Tables): LaneLine[] {
  return [...live.lanes(), ...[...live.parkings.all()].filter(({ skips }) => !skips)];
}

/** Counts what the claim would start. */
function withoutWriting(tables: Tables, { id }: WorkerRow): Omit<Candidates, 'lines'> {
  const now = tables.clock.now();
  const uses = new Map<string, MeterUse>();
  const useNow = (name: string) => uses.get(name) ?? useOf(tables, name);
  return {
    held: heldPlaces(tables, id),
    park: ({ entry, line }) => fullMeter(metersOf(entry.spec), useNow, now) !== undefined && line.delete(entry),
    take: (entry, { line }) => {
      line.delete(entry);
      for (const meter of metersOf(entry.spec)) uses.set(meter.name, withStart(useNow(meter.name), meter, now));
    },
  };
}

function copyOf(line: Heap<Entry>): Heap<Entry> {
  const copy = new Heap<Entry>(isAhead);
  for (const entry of line.values()) copy.add(entry);
  return copy;
}

import { claimLimitOf, couldRun, type Outlook, offerOf, outlookOf } from '../../../core/outlook.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';
import { workers } from '../cluster/workers.ts';
import { Admission } from './admission.ts';
import { choose, type WorkerState } from './claim.ts';
import { heldPlaces } from './gangs.ts';

/** Chooses for each worker as its claim would, and takes nothing. */
export function outlook(context: Context, jobId: number): Outlook[] {
  const { database, lanes, heads, now } = context;
  const place = database.get<{ lane: number; parking: number }>(sql.pendingLane, jobId);
  if (place === undefined) return [];
  const lane = lanes.laneOf(place.lane);
  const able = workers(context).filter((worker) => {
    const state = database.get<WorkerState>(sql.workerState, worker.id, now);
    return couldRun(worker, lane) && !state?.draining && !state?.silent;
  });
  return able.map((worker) => {
    // What the last choice has chosen was not taken.
    heads.forget();
    const request = { workerId: worker.id, limit: claimLimitOf(worker), offer: offerOf(worker), claimSeq: null };
    const held = heldPlaces(context, worker.id);
    const admission = new Admission(context, place);
    return outlookOf(worker, { id: jobId, lane }, choose(context, request, { admission, held }));
  });
}

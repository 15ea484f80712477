import { memberOutlook } from '../../../core/claim-places.ts';
import { claimLimitOf, couldRun, type Outlook, offerOf, outlookOf } from '../../../core/outlook.ts';
import { workers } from '../../engine/workers.ts';
import type { Context } from '../base/context.ts';
import { txOn } from '../base/engine.ts';
import { sql } from '../base/sql.ts';
import { Admission } from './admission.ts';
import { choose } from './choose.ts';
import { suspectsOf, type WorkerState } from './claim.ts';
import { readPlaces } from './gangs.ts';
import { Headroom } from './headroom.ts';

/** Chooses for each worker as its claim would, and takes nothing. */
export async function outlook(context: Context, jobId: number): Promise<Outlook[]> {
  const { database, lanes, heads, now } = context;
  const place = database.get<{ lane: number; parking: number }>(sql.pendingLane, jobId);
  if (place === undefined) return [];
  const lane = lanes.laneOf(place.lane);
  const claiming = (await workers(txOn(context))).filter(({ id }) => {
    const state = database.get<WorkerState>(sql.workerState, id, now);
    return !state?.draining && !state?.silent;
  });
  // The thread of this call does not learn when the first gang is submitted, so it reads the places in any case.
  const places = readPlaces(context);
  if (lane.gang) {
    const headroom = new Headroom(context);
    return memberOutlook(jobId, { workers: claiming, places, left: ({ queue }) => headroom.left(queue) });
  }
  const able = claiming.filter((worker) => couldRun(worker, lane));
  const suspects = suspectsOf(context, { suspects: 1 });
  return able.map((worker) => {
    // What the last choice has chosen was not taken.
    heads.forget();
    const request = { workerId: worker.id, limit: claimLimitOf(worker), offer: offerOf(worker), claimSeq: null };
    const admission = new Admission(context, place);
    return outlookOf(
      worker,
      { id: jobId, lane },
      choose(context, request, { admission, places, members: [], suspects }),
    );
  });
}

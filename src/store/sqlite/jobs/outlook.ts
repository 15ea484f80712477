import { memberOutlook } from '../../../core/claim-places.ts';
import { claimLimitOf, couldRun, type Outlook, offerOf, outlookOf } from '../../../core/outlook.ts';
import { readPlaces } from '../../engine/gangs.ts';
import { leftIn, readHeadroom } from '../../engine/headroom.ts';
import { claimingWorkers } from '../../engine/workers.ts';
import type { Context } from '../base/context.ts';
import { txOn } from '../base/engine.ts';
import { sql } from '../base/sql.ts';
import { Admission } from './admission.ts';
import { choose } from './choose.ts';
import { suspectsOf } from './claim.ts';

/** Chooses for each worker as its claim would, and takes nothing. */
export async function outlook(context: Context, jobId: number): Promise<Outlook[]> {
  const { database, lanes, heads } = context;
  const place = database.get<{ lane: number; parking: number }>(sql.pendingLane, jobId);
  if (place === undefined) return [];
  const lane = lanes.laneOf(place.lane);
  const tx = txOn(context);
  const claiming = await claimingWorkers(tx);
  // The thread of this call does not learn when the first gang is submitted, so it reads the places in any case.
  const places = await readPlaces(tx);
  if (lane.gang) {
    const { headroom } = await readHeadroom(tx, [lane.queue]);
    return memberOutlook(jobId, { workers: claiming, places, left: leftIn(headroom) });
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

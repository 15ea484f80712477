import { Room } from '../../../core/capacity.ts';
import { heldBy, memberOutlook } from '../../../core/claim-places.ts';
import { claimLimitOf, couldRun, type Outlook, offerOf, outlookOf } from '../../../core/outlook.ts';
import { leftIn, readHeadroom, withoutKept } from '../../engine/headroom.ts';
import { readSurroundings } from '../../engine/reservations.ts';
import { claimingWorkers } from '../../engine/workers.ts';
import type { Context } from '../base/context.ts';
import { txOn } from '../base/engine.ts';
import { Admission, DEPTH_GROWTH, MAX_DEPTH } from './admission.ts';
import { readPlaces } from './gangs.ts';
import { compareHeads } from './head.ts';
import { type ClaimPlan, planClaim, readHeads } from './plan-claim.ts';

/** Plans for each worker as its claim would, and takes nothing. */
export async function outlook(context: Context, jobId: number, signal: AbortSignal): Promise<Outlook[]> {
  const { database, sql, lanes } = context;
  const session = database.session(signal);
  const [row] = await session.query<{ lane: number; parking: number }>(sql.pendingLane, [jobId]);
  if (row === undefined) return [];
  await lanes.refresh(signal);
  const lane = lanes.lane(row.lane);
  if (lane === undefined) return [];
  const tx = txOn(context, session);
  const claiming = await claimingWorkers(tx);
  if (lane.gang) {
    const { headroom } = await readHeadroom(tx, [lane.queue]);
    return memberOutlook(jobId, { workers: claiming, places: await readPlaces(context, tx), left: leftIn(headroom) });
  }
  const able = claiming.filter((worker) => couldRun(worker, lane));
  if (able.length === 0) return [];

  const served = lanes.all();
  const { headroom } = await readHeadroom(tx, [...new Set(served.map(({ lane: { queue } }) => queue))]);
  const limit = Math.max(...able.map(claimLimitOf));
  const most = Object.fromEntries(
    able.flatMap(({ resources }) => Object.keys(resources)).map((name) => [name, Number.MAX_SAFE_INTEGER]),
  );
  const places = served.some(({ lane: { gang } }) => gang) ? await readPlaces(context, tx) : [];
  const plain = served.filter(({ lane: { metered } }) => !metered);
  const metered = served.filter((known) => known.lane.metered && (headroom.get(known.lane.queue) ?? 1) > 0);
  const first = await readHeads(sql, session, { served: plain, limit, headroom, room: new Room(0, most) });
  for (let depth = limit; ; depth = Math.min(depth * DEPTH_GROWTH, MAX_DEPTH)) {
    const admission = new Admission(context, session);
    const wanted = { workerId: able[0]?.id ?? 0, parking: row.parking, depth };
    const heads = [...first, ...(await admission.look(metered, wanted))].sort(compareHeads);
    const surroundings = await readSurroundings(tx, {
      workerIds: able.map(({ id }) => id),
      jobIds: heads.map(({ job_id }) => job_id),
    });
    const plans = able.map((worker) => {
      const offer = offerOf(worker);
      const request = { workerId: worker.id, limit: claimLimitOf(worker), offer, claimSeq: null };
      const held = heldBy(worker.id, places);
      const known = {
        served: lanes.servedBy(offer),
        heads,
        headroom: withoutKept(headroom, places),
        admission,
        held,
        taken: 0,
        mayPassUnread: depth >= MAX_DEPTH,
      };
      return { worker, plan: planClaim(request, known, surroundings(worker.id)) as ClaimPlan };
    });
    if (depth < MAX_DEPTH && plans.some(({ plan }) => plan.goesOn)) continue;
    return plans.map(({ worker, plan }) => outlookOf(worker, { id: jobId, lane }, plan));
  }
}

import { Room } from '../../../core/capacity.ts';
import { claimLimitOf, couldRun, type Outlook, offerOf, outlookOf } from '../../../core/outlook.ts';
import type { Context } from '../base/context.ts';
import type { Session } from '../base/database.ts';
import { workers } from '../cluster/workers.ts';
import { waitingPlaces } from './gangs.ts';
import { placesLeft } from './places.ts';
import { planClaim, readHeads } from './plan-claim.ts';
import { readSurroundings } from './reservations.ts';

/** Plans for each worker as its claim would, and takes nothing. */
export async function outlook(context: Context, jobId: number, signal: AbortSignal): Promise<Outlook[]> {
  const { database, sql, lanes } = context;
  const session: Session = { query: (statement, values = []) => database.query(statement, values, signal) };
  const [row] = await session.query<{ lane: number }>(sql.pendingLane, [jobId]);
  if (row === undefined) return [];
  await lanes.refresh(signal);
  const lane = lanes.lane(row.lane);
  if (lane === undefined) return [];
  const silent = await session.query<{ id: number }>(sql.silentWorkers);
  const able = (await workers(context, signal)).filter(
    (worker) => couldRun(worker, lane) && !silent.some(({ id }) => id === worker.id),
  );
  if (able.length === 0) return [];

  const served = lanes.all();
  const { places } = await placesLeft(sql, session, served, sql.limitedQueues);
  const limit = Math.max(...able.map(claimLimitOf));
  const most = Object.fromEntries(
    able.flatMap(({ resources }) => Object.keys(resources)).map((name) => [name, Number.MAX_SAFE_INTEGER]),
  );
  const heads = await readHeads(sql, session, { served, limit, places, room: new Room(0, most) });
  const surroundings = await readSurroundings(sql, session, {
    workerIds: able.map(({ id }) => id),
    jobIds: heads.map(({ job_id }) => job_id),
  });
  const waiting = lanes.hasGangs ? await waitingPlaces(context, session) : [];
  return able.flatMap((worker) => {
    const offer = offerOf(worker);
    const request = { workerId: worker.id, limit: claimLimitOf(worker), offer, claimSeq: null };
    const held = waiting.filter(({ workerId }) => workerId === worker.id);
    const known = { served: lanes.servedBy(offer), heads, places, held };
    const plan = planClaim(request, known, surroundings(worker.id));
    return plan === undefined ? [] : [outlookOf(worker, { id: jobId, lane }, plan)];
  });
}

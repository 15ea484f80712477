/** The places of gangs, as claims use them. */

import { type HeldPlace, heldBy, type PlaceInLane } from '../../../core/claim-places.ts';
import { hostsOf } from '../../../core/gang.ts';
import type { ClaimedJob } from '../../../core/job.ts';
import { acceptPlaces, allPlaces, gangHosts, placeRow } from '../../engine/gangs.ts';
import { type Headroom, leftIn } from '../../engine/headroom.ts';
import type { ClaimRequest } from '../../job-store.ts';
import type { Tx } from '../../sql/tx.ts';
import type { Context } from '../base/context.ts';
import { txOn } from '../base/engine.ts';

/** With the lanes, which other processes may have created. */
export async function readPlaces({ lanes }: Context, tx: Tx): Promise<PlaceInLane[]> {
  return (await tx.all(placeRow, allPlaces)).map(({ lane, key, ...place }) => ({
    ...place,
    lane: lane === null || key === null ? null : lanes.learn(lane, key),
  }));
}

/** Tells members the addresses of their gang. */
export async function tellHosts(context: Context, jobs: readonly ClaimedJob[], signal: AbortSignal): Promise<void> {
  const ids = [...new Set(jobs.flatMap(({ gang }) => (gang === null ? [] : [gang.id])))];
  if (ids.length === 0) return;
  const hosts = await gangHosts(txOn(context, context.database.session(signal)), ids);
  for (const job of jobs) {
    if (job.gang !== null) job.gangContext = { hosts: hostsOf(job.gang, hosts[job.gang.id] ?? []) };
  }
}

/**
 * Accepts places of the worker. `queues`: those that the claim has looked at, and has locked if they are limited. If the worker has got a
 * place in another one since, the next claim accepts.
 */
export async function acceptHeld(
  context: Context,
  tx: Tx,
  request: ClaimRequest,
  { queues, headroom }: { queues: ReadonlySet<string>; headroom: Headroom },
): Promise<HeldPlace[]> {
  // Two workers that accept the last two places must see each other.
  await tx.lockTable('place');
  const places = await readPlaces(context, tx);
  if (heldBy(request.workerId, places).some(({ lane }) => !queues.has(lane.queue))) return [];
  return await acceptPlaces(tx, request, { places, left: leftIn(headroom) });
}

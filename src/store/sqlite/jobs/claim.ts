import type { HeldPlace, PlaceInLane } from '../../../core/claim-places.ts';
import { WorkronError } from '../../../core/error.ts';
import type { Gang } from '../../../core/gang.ts';
import { acceptPlaces, gangHosts, type HostsByGang, readPlaces, startPlaces } from '../../engine/gangs.ts';
import { storeReservation } from '../../engine/reservations.ts';
import { FLAG } from '../../flags.ts';
import type { ClaimRequest } from '../../job-store.ts';
import type { Context } from '../base/context.ts';
import { txOn } from '../base/engine.ts';
import { sql } from '../base/sql.ts';
import { type RunContextAnswer, readRunContext } from '../graph/run-context.ts';
import { CLAIMED, type ClaimedRow } from '../reads/job-row.ts';
import { Admission } from './admission.ts';
import { type ClaimChoice, choose } from './choose.ts';
import { Headroom } from './headroom.ts';

export interface ClaimAnswer {
  /** `ClaimedRow[]` as JSON: text is the cheapest to send. */
  rows: string;
  startedAt: number;
  /** `null` if none of the jobs has a run context. */
  runContext: RunContextAnswer | null;
  /** The hosts of each gang that has members among the jobs; `null` if there is none. */
  gangHosts: HostsByGang | null;
}

export interface WorkerState {
  state: string;
  draining: number;
  silent: number;
  /** Whether any job is a suspect. */
  suspects: number;
  /** Whether any member of a gang has a place and has not started. */
  placed: number;
}

export async function claim(context: Context, request: ClaimRequest): Promise<ClaimAnswer> {
  const { rows, members } = await claimRows(context, request);
  return {
    rows: JSON.stringify(rows),
    startedAt: context.now,
    runContext: readRunContext(context, rows),
    gangHosts: members.length === 0 ? null : await gangHosts(txOn(context), gangsOf(rows, members)),
  };
}

interface Claimed {
  rows: ClaimedRow[];
  /** The jobs among them that are members of gangs. */
  members: readonly number[];
}

const NOTHING: Claimed = { rows: [], members: [] };

async function claimRows(context: Context, request: ClaimRequest): Promise<Claimed> {
  const { database, now, effects } = context;
  const worker = database.get<WorkerState>(sql.workerState, request.workerId, now);
  if (worker === undefined || worker.state === 'offline') {
    throw new WorkronError('worker_not_found', `Worker ${request.workerId} is not registered; register again`);
  }
  if (worker.draining || worker.silent) return NOTHING;

  const admission = request.prefetch ? null : new Admission(context);
  const places = request.prefetch || !worker.placed ? [] : await readPlaces(txOn(context));
  const starting = places.length === 0 ? [] : await startPlaced(context, request, places);
  const members = starting.map(({ jobId }) => jobId);
  const suspects = suspectsOf(context, worker);
  const choice = choose(context, request, { admission, places, members: starting, suspects });
  const reserved = choice.room.toStore();
  if (reserved !== undefined) await storeReservation(txOn(context), request.workerId, reserved);
  const ids = request.prefetch ? firstPrefetchable(context, choice) : [...members, ...choice.jobIds];
  if (ids.length === 0) return NOTHING;
  const chosen = JSON.stringify(ids);
  database.run(sql.takeJobs, chosen, request.workerId, request.claimSeq, now, request.prefetch ? 1 : 0);
  admission?.write();
  const rows = database.tuples<ClaimedRow>(sql.claimedJobs, chosen);
  noteQueueStarts(context, choice.headroom, rows);
  const keyed = rows.filter((row) => row[CLAIMED.flags] & FLAG.holdsKey).map(([id]) => id);
  if (keyed.length > 0) database.run(sql.freePendingKeys, JSON.stringify(keyed));
  for (const id of ids) effects.changedJob(id);
  return { rows, members };
}

/** Accepts the places that the offer has room for. Returns the members that can start. */
async function startPlaced(
  context: Context,
  request: ClaimRequest,
  places: readonly PlaceInLane[],
): Promise<HeldPlace[]> {
  const headroom = new Headroom(context);
  const tx = txOn(context);
  const starting = await acceptPlaces(tx, request, { places, left: ({ queue }) => headroom.left(queue) });
  await startPlaces(
    tx,
    starting.map(({ jobId }) => jobId),
  );
  return starting;
}

/** The jobs that are claimed alone. */
export function suspectsOf({ database }: Context, { suspects }: Pick<WorkerState, 'suspects'>): ReadonlySet<number> {
  return new Set(suspects ? database.tuples<[number]>(sql.suspects).map(([id]) => id) : []);
}

/** The gangs of members. */
function gangsOf(rows: readonly ClaimedRow[], members: readonly number[]): string[] {
  const ofMembers = rows.filter(([id]) => members.includes(id));
  const specs = ofMembers.map((row) => JSON.parse(row[CLAIMED.spec]) as { gang?: Gang });
  return [...new Set(specs.flatMap(({ gang }) => (gang === undefined ? [] : [gang.id])))];
}

/** Returns the chosen jobs up to the first that must not be prefetched. */
function firstPrefetchable({ database, heads }: Context, { jobIds, lanes }: ClaimChoice): readonly number[] {
  const must = new Set(database.tuples<[number]>(sql.mustStart, JSON.stringify(jobIds)).map(([id]) => id));
  const first = jobIds.findIndex((id) => must.has(id));
  if (first === -1) return jobIds;
  for (const lane of lanes.slice(first)) heads.change(lane);
  return jobIds.slice(0, first);
}

/** Records the starts in queues that have a rate. */
function noteQueueStarts({ database, now }: Context, headroom: Headroom, rows: readonly ClaimedRow[]): void {
  if (headroom.rated().length === 0) return;
  for (const row of rows) {
    const meter = headroom.meter(row[CLAIMED.queue]);
    if (meter === undefined) continue;
    database.run(sql.noteStarts, meter.name, now, row[CLAIMED.id]);
    database.run(sql.trimStarts, meter.name, now);
  }
}

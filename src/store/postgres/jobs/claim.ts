/** Claims jobs. */

import { Room, subtract } from '../../../core/capacity.ts';
import { heldBy } from '../../../core/claim-places.ts';
import { UNREAD_STEPS } from '../../../core/durable.ts';
import { WorkronError } from '../../../core/error.ts';
import type { ClaimedJob } from '../../../core/job.ts';
import { fits, needsResources } from '../../../core/lane.ts';
import { laneMayPrefetch } from '../../../core/prefetch.ts';
import { earlier } from '../../engine/duties.ts';
import { startPlaces } from '../../engine/gangs.ts';
import { readHeadroom, withoutKept } from '../../engine/headroom.ts';
import { readSurroundings, storeReservation, withStarting } from '../../engine/reservations.ts';
import { FLAG, LINKED } from '../../flags.ts';
import type { ClaimRequest } from '../../job-store.ts';
import { claimedJob, type StoredSpec } from '../../spec.ts';
import type { Context } from '../base/context.ts';
import type { CountingSession, Session, Statement } from '../base/database.ts';
import { announce, txOn } from '../base/engine.ts';
import { numbers } from '../base/values.ts';
import { runContextOf } from '../graph/run-context.ts';
import { Admission, DEPTH_GROWTH, MAX_DEPTH } from './admission.ts';
import { acceptHeld, readPlaces, tellHosts } from './gangs.ts';
import { compareHeads } from './head.ts';
import type { KnownLane } from './lanes.ts';
import { type ClaimPlan, planClaim, readHeads } from './plan-claim.ts';
import { PLAIN_JOB, PLAIN_LIVE, specsOf, type TakenRow } from './taken-row.ts';

/** Retries when other claims took the jobs first. */
const MAX_TRIES = 5;

/** A job that has more than a plain one: it is linked to others, or has a turn. */
interface SpecialJob {
  job: ClaimedJob;
  turn: number;
  flags: number;
  spec: StoredSpec;
  workflowId: number | null;
  groupId: number | null;
  groupIndex: number | null;
  stepKey: string | null;
}

interface Taken {
  /** The rows of `claim`, each with its jobs. */
  claims: { id: number; jobs: readonly ClaimedJob[] }[];
  jobs: ClaimedJob[];
  special: SpecialJob[];
  /** The number of jobs that were chosen. It is greater than the number taken if other claims were faster. */
  wanted: number;
  /** Nothing was taken, because the places of gangs have to be looked at. */
  placed?: boolean;
  /** Some are members of gangs. */
  hasMembers?: boolean;
  /** Behind the jobs that were read there may be others that can start. */
  goesOn?: boolean;
  /** A rate lets a job start again then. */
  opensAt?: number | null;
}

export async function claim(context: Context, request: ClaimRequest, signal: AbortSignal): Promise<ClaimedJob[]> {
  const { lanes, hints, waiter, openClaims, linkedClaims } = context;
  const wasFresh = lanes.isFresh;
  if (!wasFresh) await lanes.refresh(signal);
  let taken = await look(context, request, signal);
  // A prefetch does not wait.
  if (request.prefetch && taken.jobs.length === 0) return [];
  // Other processes may have created lanes since the last refresh.
  if (taken.jobs.length === 0 && wasFresh && (await lanes.refresh(signal)))
    taken = await look(context, request, signal);
  // Registers as a waiter, then looks once more (see hints.ts).
  if (taken.jobs.length === 0 && hints.hasListeners && (await waiter.register(signal))) {
    taken = await look(context, request, signal);
  }
  const { claims, jobs, special } = taken;
  if (claims.length === 0) return [];
  for (const { id, jobs: own } of claims) openClaims.open({ workerId: request.workerId, id }, own);
  hints.announce({ jobs: jobs.map((job) => job.id) });
  linkedClaims.remember(special.filter(({ flags }) => flags & LINKED).map(linkedClaimOf));
  const runContexts = await runContextOf(context, special, signal);
  if (taken.hasMembers) await tellHosts(context, jobs, signal);
  for (const { job } of special) job.runContext = runContexts.get(job.id) ?? null;
  const turns = new Map(special.map(({ job, turn }) => [job.id, turn]));
  const turnOf = (job: ClaimedJob) => (turns.size === 0 ? 0 : (turns.get(job.id) ?? 0));
  return jobs.sort((a, b) => b.priority - a.priority || turnOf(a) - turnOf(b) || a.dueAt - b.dueAt || a.id - b.id);
}

function linkedClaimOf({ job: { id, name }, stepKey, workflowId, groupId }: SpecialJob) {
  return { id, workflowId, groupId, key: stepKey ?? name ?? String(id) };
}

/** Looks until there are enough jobs, no others that can start, or too many in the way: then the next claim goes on. */
async function look(context: Context, request: ClaimRequest, signal: AbortSignal): Promise<Taken> {
  let depth = request.limit;
  const all = await lookOnce(context, request, { depth, taken: 0, signal });
  while (all.goesOn && depth < MAX_DEPTH) {
    depth = Math.min(depth * DEPTH_GROWTH, MAX_DEPTH);
    const rest = { ...request, limit: request.limit - all.jobs.length, offer: restOf(request, all.jobs) };
    const next = await lookOnce(context, rest, { depth, taken: all.jobs.length, signal }).catch((error: unknown) => {
      // What was claimed is returned.
      if (all.jobs.length === 0) throw error;
      return undefined;
    });
    if (next === undefined) break;
    for (const part of ['claims', 'jobs', 'special'] as const) (all[part] as unknown[]).push(...next[part]);
    all.hasMembers ||= next.hasMembers ?? false;
    all.goesOn = next.goesOn ?? false;
  }
  if (all.goesOn) context.hints.announce({ work: true }, { elsewhere: false });
  return all;
}

/** What these jobs leave of the offer. */
function restOf({ offer }: ClaimRequest, jobs: readonly ClaimedJob[]): ClaimRequest['offer'] {
  const free = { ...offer.free };
  for (const { resources } of jobs) subtract(free, resources);
  return { ...offer, free };
}

interface Reading {
  /** How many jobs with meters are read. */
  depth: number;
  /** The number of jobs that earlier looks of the same claim have taken. */
  taken: number;
}

async function lookOnce(
  context: Context,
  request: ClaimRequest,
  { signal, ...reading }: Reading & { signal: AbortSignal },
): Promise<Taken> {
  const { database, lanes } = context;
  const served = lanes.servedBy(request.offer);
  const prefetch = request.prefetch ? askPrefetch(context, request, served) : undefined;
  const single: Session = { query: (statement, values = []) => database.query(statement, values, signal) };
  for (let tries = 1; ; tries += 1) {
    const taken =
      prefetch !== undefined
        ? await take(context, single, request, prefetch)
        : lanes.hasPlaces ||
            served.some(({ lane }) => needsResources(lane) || lane.metered || lanes.isLimited(lane.queue))
          ? await database.transaction(signal, (session) =>
              takeByPlan(context, session, request, { served, ...reading }),
            )
          : await take(context, single, request, askMerged(context, request, served));
    lanes.hasPlaces ||= taken.placed ?? false;
    if (taken.placed && tries < MAX_TRIES) continue;
    if (taken.opensAt != null) context.hints.announce({ dueAt: taken.opensAt });
    if (taken.jobs.length > 0 || taken.wanted === 0 || taken.goesOn || tries === MAX_TRIES) return taken;
  }
}

interface Ask {
  statement: Statement;
  values: readonly unknown[];
  /** The lane, if all jobs come from one and the answer does not name it. */
  only?: number;
}

function askMerged({ sql, lanes }: Context, { limit }: ClaimRequest, served: readonly KnownLane[]): Ask {
  const [only] = served;
  if (only !== undefined && served.length === 1) {
    return { statement: sql.claimPlanned, values: [numbers([only.id]), numbers([limit]), true, true] };
  }
  const { single, crowd } = lanes.split(served);
  const ids = numbers(single.map(({ id }) => id));
  return crowd
    ? { statement: sql.claimCrowd, values: [ids, limit, lanes.last] }
    : { statement: sql.claimMerged, values: [ids, limit] };
}

/** Lanes that do not fit are left out: they do not stop the prefetch. */
function askPrefetch({ sql, lanes }: Context, { limit, offer }: ClaimRequest, known: readonly KnownLane[]): Ask {
  const served = known.filter(({ lane }) => fits(lane, offer.free, 1) > 0);
  const may = ({ lane }: KnownLane) => laneMayPrefetch(lane) && !lanes.isLimited(lane.queue);
  const [only] = served;
  if (only !== undefined && served.length === 1 && may(only)) {
    return { statement: sql.claimPrefetchOneLane, values: [numbers([only.id]), limit], only: only.id };
  }
  // All lanes of a crowd must be such whose jobs may be prefetched.
  const { crowd } = lanes.split(served.filter(may));
  const single = crowd ? lanes.split(served).single : served;
  const values = [numbers(single.map(({ id }) => id)), limit, single.map(may)];
  return crowd
    ? { statement: sql.claimCrowdPrefetch, values: [...values, lanes.last] }
    : { statement: sql.claimPrefetch, values };
}

async function take(
  { lanes, openClaims }: Context,
  session: Session,
  { workerId, claimSeq, prefetch = false }: ClaimRequest,
  { statement, values, only }: Ask,
): Promise<Taken> {
  const ended = numbers(openClaims.takeEnded(workerId));
  const [row] = await session.query<TakenRow>(statement, [workerId, claimSeq, ended, ...values]);
  if (row === undefined || row.state === null || row.state === 'offline') {
    throw new WorkronError('worker_not_found', `Worker ${workerId} is not registered; register again`);
  }
  const special: SpecialJob[] = [];
  const specs = specsOf(row);
  const jobs = (row.ids ?? []).map((id, place) => {
    const lane = lanes.lane(row.lanes?.[place] ?? (only as number));
    if (lane === undefined) throw new Error(`job ${id} was taken from a lane that nobody asked for`);
    const live = row.more_live?.[id] ?? PLAIN_LIVE;
    const more = row.more_job?.[id] ?? PLAIN_JOB;
    // By place: taking an array apart makes an object for each element, and this runs for every job.
    const { 0: attempt, 1: flags, 2: turn, 3: failures } = live;
    const { 0: priority, 1: name, 2: tags } = more;
    const spec = specs[place] as StoredSpec;
    const job = claimedJob(
      { queue: lane.queue, kind: lane.kind, name, priority, tags, spec },
      {
        id,
        attempt,
        failures: failures ?? 0,
        dueAt: row.dues[place] as number,
        startedAt: row.now,
      },
    );
    if (prefetch) job.prefetched = true;
    if (flags & FLAG.suspect) job.suspect = true;
    if (flags & FLAG.hasSteps) job.steps = UNREAD_STEPS;
    if (flags !== 0 || turn !== 0) {
      const [, , , workflowId, stepKey, groupId, groupIndex] = more;
      special.push({ job, turn, flags, spec, workflowId, groupId, groupIndex, stepKey });
    }
    return job;
  });
  const claims = row.claim === null ? [] : [{ id: row.claim, jobs }];
  return { claims, jobs, special, wanted: row.wanted, placed: row.placed };
}

/** Claims where resources or limits decide. */
async function takeByPlan(
  context: Context,
  session: CountingSession,
  request: ClaimRequest,
  { served, depth, taken: before }: Reading & { served: readonly KnownLane[] },
): Promise<Taken> {
  const { sql, lanes } = context;
  const { workerId, limit, offer } = request;
  const { hasPlaces } = lanes;
  const tx = txOn(context, session);
  const given = hasPlaces ? await readPlaces(context, tx) : [];
  const held = heldBy(workerId, given);
  const all = held.length === 0 ? served : [...served, ...held.map(({ lane }) => ({ id: 0, lane }))];
  const queues = new Set(all.map(({ lane }) => lane.queue));
  const { headroom, meters, opensAt } = await readHeadroom(tx, [...queues], { lock: true });
  const plain = served.filter(({ lane }) => !lane.metered);
  const open = served.filter(({ lane }) => lane.metered && (headroom.get(lane.queue) ?? 1) > 0);
  const heads = await readHeads(sql, session, { served: plain, limit, headroom, room: new Room(workerId, offer.free) });
  const admission = new Admission(context, session);
  if (open.length > 0) heads.push(...(await admission.read(open, { workerId, depth })));
  heads.sort(compareHeads);
  const members = held.length === 0 ? [] : await acceptHeld(context, tx, request, { queues, headroom });
  announce(context, tx);
  // Read again, under the locks of the queues: a gang may have got places, or have started, meanwhile.
  const places = hasPlaces && headroom.size > 0 ? await readPlaces(context, tx) : [];
  const left = withoutKept(headroom, places);
  const besides = { taken: before + members.length, mayPassUnread: depth >= MAX_DEPTH };
  const known = { served, heads, headroom: left, admission, held, ...besides };
  let plan = planClaim(request, known, undefined);
  if (plan === undefined) {
    const jobIds = [...heads.map(({ job_id }) => job_id), ...members.map(({ jobId }) => jobId)];
    const around = (await readSurroundings(tx, { workerIds: [workerId], jobIds }))(workerId);
    plan = planClaim(request, known, withStarting(around, members)) as ClaimPlan;
  }
  await admission.write();
  const reserved = plan.room.toStore();
  if (reserved !== undefined) await storeReservation(tx, workerId, reserved);
  const counts = [numbers([...plan.counts.keys()]), numbers([...plan.counts.values()])];
  const passing = [...members.map(({ jobId }) => jobId), ...plan.passing];
  const ask =
    passing.length === 0
      ? { statement: sql.claimPlanned, values: [...counts, false, !hasPlaces] }
      : { statement: sql.claimPassing, values: [...counts, numbers(passing), !hasPlaces] };
  const taken = await take(context, session, request, ask);
  await admission.start(taken.jobs, meters);
  // A member whose row somebody holds starts with the next claim.
  const started = members.map(({ jobId }) => jobId).filter((jobId) => taken.jobs.some(({ id }) => id === jobId));
  await startPlaces(tx, started);
  lanes.hasPlaces &&= given.some(
    ({ jobId, workerId: host, started: is }) => host !== null && !is && !started.includes(jobId),
  );
  const wanted = admission.missed ? 1 : members.length + plan.jobIds.length;
  const hasMembers = started.length > 0;
  return { ...taken, wanted, hasMembers, goesOn: plan.goesOn, opensAt: earlier(admission.opensAt, opensAt) };
}

/** Claims jobs. */

import { WorkronError } from '../../../core/error.ts';
import type { ClaimedJob } from '../../../core/job.ts';
import { fits, needsResources } from '../../../core/lane.ts';
import { laneMayPrefetch } from '../../../core/prefetch.ts';
import { LINKED } from '../../flags.ts';
import type { ClaimRequest } from '../../job-store.ts';
import { decodeSpec, type StoredSpec } from '../../spec.ts';
import type { Context } from '../base/context.ts';
import type { Session, Statement } from '../base/database.ts';
import { numbers } from '../base/values.ts';
import { runContextOf } from '../graph/run-context.ts';
import type { KnownLane, Lanes } from './lanes.ts';

/** Retries when other claims took the jobs first. */
const MAX_TRIES = 5;

/** Arrays of equal length, one element per job; `null` if nothing was claimed. */
interface TakenRow {
  state: string | null;
  wanted: number;
  now: number;
  /** The row of `claim`. */
  claim: number | null;
  ids: number[] | null;
  attempts: number[];
  lanes: number[];
  dues: number[];
  /** By id, only jobs that differ from `PLAIN_LIVE`. */
  more_live: Record<string, MoreLive> | null;
  /** The ids in the order of `specs`. */
  job_ids: number[] | null;
  specs: StoredSpec[];
  /** By id, only jobs that differ from `PLAIN_JOB`. */
  more_job: Record<string, MoreJob> | null;
}

type MoreLive = [flags: number, turn: number, failures: number | null];

type MoreJob = [
  priority: number,
  name: string | null,
  tags: string[],
  workflowId: number | null,
  stepKey: string | null,
  groupId: number | null,
  groupIndex: number | null,
];

const PLAIN_LIVE: MoreLive = [0, 0, null];
const PLAIN_JOB: MoreJob = [0, null, [], null, null, null, null];

interface TakenJob {
  job: Omit<ClaimedJob, 'runContext'>;
  turn: number;
  flags: number;
  spec: StoredSpec;
  workflowId: number | null;
  groupId: number | null;
  groupIndex: number | null;
  stepKey: string | null;
}

export async function claim(context: Context, request: ClaimRequest, signal: AbortSignal): Promise<ClaimedJob[]> {
  const { lanes, hints, waiting } = context;
  const wasFresh = lanes.isFresh;
  if (!wasFresh) await lanes.refresh(signal);
  let taken = await look(context, request, signal);
  // A prefetch does not wait.
  if (request.prefetch && taken.length === 0) return [];
  // Other processes may have created lanes since the last refresh.
  if (taken.length === 0 && wasFresh && (await lanes.refresh(signal))) taken = await look(context, request, signal);
  // Registers as a waiter, then looks once more (see hints.ts).
  if (taken.length === 0 && hints.hasListeners && (await waiting.begin(signal))) {
    taken = await look(context, request, signal);
  }
  if (taken.length > 0) hints.announce({ jobs: taken.map(({ job }) => job.id) });
  context.linkedClaims.remember(taken.filter(({ flags }) => flags & LINKED).map(linkedClaimOf));
  const runContext = await runContextOf(context, taken, signal);
  return taken.sort(byUrgency).map(({ job }) => Object.assign(job, { runContext: runContext.get(job.id) ?? null }));
}

function linkedClaimOf({ job: { id, name }, stepKey, workflowId, groupId }: TakenJob) {
  return { id, workflowId, groupId, key: stepKey ?? name ?? String(id) };
}

function byUrgency(a: TakenJob, b: TakenJob): number {
  return b.job.priority - a.job.priority || a.turn - b.turn || a.job.dueAt - b.job.dueAt || a.job.id - b.job.id;
}

async function look(context: Context, request: ClaimRequest, signal: AbortSignal): Promise<TakenJob[]> {
  const { database, sql, lanes } = context;
  const served = lanes.servedBy(request.offer);
  const prefetch = request.prefetch ? askPrefetch(context, request, served) : undefined;
  const single: Session = { query: (statement, values = []) => database.query(statement, values, signal) };
  for (let tries = 1; ; tries += 1) {
    const { taken, wanted } =
      prefetch !== undefined
        ? await take(context, single, request, prefetch)
        : served.some(({ lane }) => needsResources(lane) || lanes.isLimited(lane.queue))
          ? await database.transaction(signal, (session) => takeByPlan(context, session, request, served))
          : await take(
              context,
              single,
              request,
              served.length === 1
                ? {
                    statement: sql.claimPlanned,
                    values: [numbers([served[0]?.id ?? 0]), numbers([request.limit]), true],
                  }
                : { statement: sql.claimMerged, values: [numbers(served.map(({ id }) => id)), request.limit] },
            );
    if (taken.length > 0 || wanted === 0 || tries === MAX_TRIES) return taken;
  }
}

interface Ask {
  statement: Statement;
  values: readonly unknown[];
}

/** Lanes that do not fit are left out: they do not stop the prefetch. */
function askPrefetch({ sql, lanes }: Context, { limit, offer }: ClaimRequest, known: readonly KnownLane[]): Ask {
  const served = known.filter(({ lane }) => fits(lane, offer.free, 1) > 0);
  const may = served.map(({ lane }) => laneMayPrefetch(lane) && !lanes.isLimited(lane.queue));
  const ids = numbers(served.map(({ id }) => id));
  if (served.length === 1 && may[0]) return { statement: sql.claimPrefetchOneLane, values: [ids, limit] };
  return { statement: sql.claimPrefetch, values: [ids, limit, may] };
}

interface Taken {
  taken: TakenJob[];
  /** The number of jobs that were chosen. It is greater than the number taken if other claims were faster. */
  wanted: number;
}

async function take(
  { lanes, openClaims }: Context,
  session: Session,
  { workerId, claimSeq, prefetch = false }: ClaimRequest,
  { statement, values }: Ask,
): Promise<Taken> {
  const ended = numbers(openClaims.takeEnded(workerId));
  const [row] = await session.query<TakenRow>(statement, [workerId, claimSeq, ended, ...values]);
  if (row === undefined || row.state === null || row.state === 'offline') {
    throw new WorkronError('worker_not_found', `Worker ${workerId} is not registered; register again`);
  }
  const specs = specsOf(row);
  const taken = (row.ids ?? []).map((id, place) =>
    decodeTaken(lanes, row, { id, place, spec: specs[place], prefetch }),
  );
  if (row.claim !== null)
    openClaims.open(
      { workerId, id: row.claim },
      taken.map(({ job }) => job),
    );
  return { taken, wanted: row.wanted };
}

/** Returns the specs in the order of `ids`. Jobs are mostly claimed in the order of their ids. */
function specsOf({ ids, job_ids: jobIds, specs }: TakenRow): readonly StoredSpec[] {
  if (ids === null || jobIds === null || ids.every((id, place) => jobIds[place] === id)) return specs;
  const byId = new Map(jobIds.map((id, place) => [id, specs[place] as StoredSpec]));
  return ids.map((id) => byId.get(id) as StoredSpec);
}

interface TakenPlace {
  id: number;
  place: number;
  spec: StoredSpec | undefined;
  prefetch: boolean;
}

function decodeTaken(lanes: Lanes, row: TakenRow, { id, place, spec: stored, prefetch }: TakenPlace): TakenJob {
  const lane = lanes.lane(row.lanes[place] as number);
  if (lane === undefined || stored === undefined) throw new Error(`job ${id} was taken, but nobody asked for its lane`);
  const [flags, turn, failures] = row.more_live?.[id] ?? PLAIN_LIVE;
  const [priority, name, tags, workflowId, stepKey, groupId, groupIndex] = row.more_job?.[id] ?? PLAIN_JOB;
  // Its own array: a handler may change it.
  const ownTags = [...tags];
  const spec = decodeSpec({ queue: lane.queue, kind: lane.kind, name, priority, tags: ownTags, spec: stored });
  const job = Object.assign(spec, {
    id,
    attempt: row.attempts[place] as number,
    failures: failures ?? 0,
    dueAt: row.dues[place] as number,
    startedAt: row.now,
    ...(prefetch ? { prefetched: true as const } : {}),
  });
  return { job, turn, flags, spec: stored, workflowId, groupId, groupIndex, stepKey };
}

/** Claims where resources or limits decide: the most urgent jobs first, from each lane as many as still fit. */
async function takeByPlan(
  context: Context,
  session: Session,
  request: ClaimRequest,
  served: readonly KnownLane[],
): Promise<Taken> {
  const { sql } = context;
  const rooms = await lockRooms(sql, session, served);
  const free = { ...request.offer.free };
  const lanes = new Map(served.map(({ id, lane }) => [id, lane]));
  const capOf = (id: number, limit: number) => {
    const lane = lanes.get(id);
    return lane === undefined ? 0 : Math.max(0, Math.min(fits(lane, free, limit), rooms.get(lane.queue) ?? limit));
  };

  const caps = served.map(({ id }) => capOf(id, request.limit));
  const ids = numbers(served.map(({ id }) => id));
  const heads = await session.query<{ lane: number }>(sql.laneHeads, [ids, numbers(caps)]);
  const counts = new Map<number, number>();
  let planned = 0;
  for (const { lane: id } of heads) {
    if (planned === request.limit) break;
    if (capOf(id, 1) === 0) continue;
    const lane = lanes.get(id) as KnownLane['lane'];
    for (const [name, amount] of Object.entries(lane.resources)) free[name] = (free[name] ?? 0) - amount;
    const room = rooms.get(lane.queue);
    if (room !== undefined) rooms.set(lane.queue, room - 1);
    counts.set(id, (counts.get(id) ?? 0) + 1);
    planned += 1;
  }
  const values = [numbers([...counts.keys()]), numbers([...counts.values()]), false];
  const { taken } = await take(context, session, request, { statement: sql.claimPlanned, values });
  return { taken, wanted: planned };
}

/** Returns how many more jobs of each limited queue may run. The queues stay locked, so no other claim can start one meanwhile. */
async function lockRooms(
  sql: Context['sql'],
  session: Session,
  served: readonly KnownLane[],
): Promise<Map<string, number>> {
  const queues = [...new Set(served.map(({ lane }) => lane.queue))];
  const limited = await session.query<{ name: string; max_running: number }>(sql.lockQueues, [queues]);
  if (limited.length === 0) return new Map();
  const names = limited.map(({ name }) => name);
  const running = await session.query<{ queue: string; count: number }>(sql.countRunning, [names]);
  const counts = new Map(running.map(({ queue, count }) => [queue, count]));
  return new Map(limited.map(({ name, max_running }) => [name, max_running - (counts.get(name) ?? 0)]));
}

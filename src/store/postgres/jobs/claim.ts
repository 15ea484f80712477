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
  ids: number[] | null;
  attempts: number[];
  failures: number[];
  dues: number[];
  turns: number[];
  lanes: number[];
  priorities: number[];
  names: (string | null)[];
  steps: (string | null)[];
  tags: string[][];
  specs: StoredSpec[];
  flags: number[];
  /** 0 for a job without a workflow. */
  workflows: number[];
  /** 0 for a job that is not an item. */
  groups: number[];
  /** The index of an item in its group; 0 for other jobs. */
  indexes: number[];
}

interface TakenJob {
  job: Omit<ClaimedJob, 'runContext'>;
  turn: number;
  flags: number;
  spec: StoredSpec;
  workflowId: number | null;
  groupId: number | null;
  groupIndex: number;
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
        ? await take(lanes, single, request, prefetch)
        : served.some(({ lane }) => needsResources(lane) || lanes.isLimited(lane.queue))
          ? await database.transaction(signal, (session) => takeByPlan(context, session, request, served))
          : await take(
              lanes,
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
  lanes: Lanes,
  session: Session,
  { workerId, claimSeq, prefetch = false }: ClaimRequest,
  { statement, values }: Ask,
): Promise<Taken> {
  const [row] = await session.query<TakenRow>(statement, [workerId, claimSeq, ...values]);
  if (row === undefined || row.state === null || row.state === 'offline') {
    throw new WorkronError('worker_not_found', `Worker ${workerId} is not registered; register again`);
  }
  return {
    taken: (row.ids ?? []).map((id, place) => decodeTaken(lanes, row, { id, place, prefetch })),
    wanted: row.wanted,
  };
}

function decodeTaken(
  lanes: Lanes,
  row: TakenRow,
  { id, place, prefetch }: { id: number; place: number; prefetch: boolean },
): TakenJob {
  const lane = lanes.lane(row.lanes[place] as number);
  if (lane === undefined) throw new Error(`job ${id} was taken from a lane that nobody asked for`);
  const spec = decodeSpec({
    queue: lane.queue,
    kind: lane.kind,
    name: row.names[place] as string | null,
    priority: row.priorities[place] as number,
    tags: row.tags[place] as string[],
    spec: row.specs[place] as StoredSpec,
  });
  const job = Object.assign(spec, {
    id,
    attempt: row.attempts[place] as number,
    failures: row.failures[place] as number,
    dueAt: row.dues[place] as number,
    startedAt: row.now,
    ...(prefetch ? { prefetched: true as const } : {}),
  });
  return {
    job,
    turn: row.turns[place] as number,
    flags: row.flags[place] as number,
    spec: row.specs[place] as StoredSpec,
    workflowId: row.workflows[place] || null,
    groupId: row.groups[place] || null,
    groupIndex: row.indexes[place] as number,
    stepKey: row.steps[place] as string | null,
  };
}

/** Claims where resources or limits decide: the most urgent jobs first, from each lane as many as still fit. */
async function takeByPlan(
  { sql, lanes: known }: Context,
  session: Session,
  request: ClaimRequest,
  served: readonly KnownLane[],
): Promise<Taken> {
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
  const { taken } = await take(known, session, request, { statement: sql.claimPlanned, values });
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

/** The duty that gives gangs their places, and ends gangs of which a member did not succeed. */

import type { Place } from '../../core/gang.ts';
import { isTerminal, isWaiting, type Job } from '../../core/job.ts';
import type { Loop } from '../../ops/loop.ts';
import type { SchedulerContext } from '../context.ts';
import { decide } from '../jobs/decide.ts';

const EVERY_MS = 1_000;

/** Not woken by hints: they come with every job, and gangs are few. */
export function placer(context: SchedulerContext): Loop {
  return {
    name: 'placer',
    everyMs: EVERY_MS,
    async tick(signal) {
      await tidy(context, signal);
      await context.store.placeGangs(signal);
      return undefined;
    },
  };
}

/** Looks at every gang that has places. If it stops halfway, the next round finds the same. */
async function tidy(context: SchedulerContext, signal: AbortSignal): Promise<void> {
  const { store } = context;
  const places = await store.places(signal);
  if (places.length === 0) return;
  const now = await store.now(signal);
  const ids = places.map(({ jobId }) => jobId);
  const jobs = new Map((await store.read(ids, signal)).map((job) => [job.id, job]));
  const online = new Set((await store.workers(signal)).filter(({ state }) => state === 'online').map(({ id }) => id));
  const over: string[] = [];
  const cancelled: number[] = [];
  for (const [gangId, members] of Map.groupBy(places, ({ gangId }) => gangId)) {
    const fate = judgeGang(members, { jobs, online, now });
    if (fate.over) over.push(gangId);
    cancelled.push(...fate.cancel);
  }
  await decide(context, cancelled, (job) => (isTerminal(job.status) ? undefined : { type: 'cancel' }), signal);
  if (over.length > 0) await store.dropPlaces(over, signal);
}

interface Around {
  jobs: ReadonlyMap<number, Job>;
  /** Workers that are there. */
  online: ReadonlySet<number>;
  now: number;
}

/** `over`: the places are not needed any more. `cancel`: members to be cancelled. */
function judgeGang(places: readonly Place[], { jobs, online, now }: Around): { over: boolean; cancel: number[] } {
  const members = places.map((place) => ({ place, job: jobs.get(place.jobId) }));
  const unfinished = members.filter(({ job }) => job !== undefined && !isTerminal(job.status));
  if (unfinished.length === 0) return { over: true, cancel: [] };
  const ids = unfinished.map(({ place }) => place.jobId);
  const hasStarted = places.some(({ started }) => started);
  if (!hasStarted) {
    // One of them was cancelled or has expired: the others cannot start either.
    if (unfinished.length < places.length) return { over: true, cancel: ids };
    const isLate = now > Math.max(...places.map(({ until }) => until));
    return { over: isLate || places.some(({ workerId }) => !online.has(workerId)), cancel: [] };
  }
  // A member that came back from its worker, or whose worker vanished before it started, has no peers any more.
  const stranded = unfinished.filter(
    ({ place, job }) =>
      job !== undefined && isWaiting(job.status) && (place.started || now > place.until || !online.has(place.workerId)),
  );
  const failed = members.some(({ job }) => job !== undefined && isTerminal(job.status) && job.status !== 'done');
  const goesOn = members[0]?.job?.gang?.onMemberFailure === 'continue';
  if (!goesOn && (failed || stranded.length > 0)) return { over: false, cancel: ids };
  return { over: false, cancel: stranded.map(({ place }) => place.jobId) };
}

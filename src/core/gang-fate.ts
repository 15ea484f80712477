/**
 * The fate of a gang that has places. Every round decides it from the current state of all members: a round that stops halfway
 * is continued by the next one, and nothing depends on who changed a member, or how.
 */

import { type GangRow, type Place, restarts } from './gang.ts';
import { isTerminal, isWaiting, type Job } from './job.ts';
import type { JobEvent } from './transition.ts';

export interface GangFate {
  /** The term has to be stopped. */
  stop: boolean;
  /** What happens to members, by job; after the stop. */
  events: ReadonlyMap<number, JobEvent>;
  /** When the places are deleted; `null`: they stay. */
  drop: 'always' | 'unless started' | null;
}

interface GangState {
  jobs: ReadonlyMap<number, Job>;
  /** Workers that are online. */
  online: ReadonlySet<number>;
  now: number;
}

interface Member {
  place: Place;
  job: Job;
}

const NOTHING: GangFate = { stop: false, events: new Map(), drop: null };

/** `places` are all places of the gang. */
export function fateOf(gang: GangRow, places: readonly Place[], state: GangState): GangFate {
  const members = places.flatMap((place) => {
    const job = state.jobs.get(place.jobId);
    return job === undefined ? [] : [{ place, job }];
  });
  const unfinished = members.filter(({ job }) => !isTerminal(job.status));
  const [first] = unfinished;
  if (first === undefined) return { ...NOTHING, drop: 'always' };
  const hasFailed = members.some(({ job }) => isTerminal(job.status) && job.status !== 'done' && job.reason !== 'gang');
  if (!places.some(({ started }) => started)) {
    // One of them was cancelled or has expired: the others cannot start either.
    if (unfinished.length < places.length) return cancelling(unfinished);
    const isLate = state.now > Math.max(...places.map(({ until }) => until));
    const isGone = places.some(({ workerId }) => workerId !== null && !state.online.has(workerId));
    return isLate || isGone ? { ...NOTHING, drop: 'unless started' } : NOTHING;
  }
  if (first.job.gang?.onMemberFailure === 'continue') return cancelling(unfinished.filter(isBack(state)));
  if (hasFailed) return cancelling(unfinished);
  if (unfinished.every((member) => hasSucceeded(member) || isLeftOut(member))) {
    return {
      ...NOTHING,
      events: eventsFor(unfinished, ({ success }) =>
        success === null ? { type: 'leave' } : { type: 'finish', success },
      ),
    };
  }
  // A person's cancel of one member is meant for all of them.
  if (unfinished.some(({ job }) => job.cancelRequestedAt !== null && !job.gangStop)) return cancelling(unfinished);
  if (!gang.stopping && !unfinished.some(isBack(state))) return NOTHING;
  return restarts(first.job) ? restart(gang, unfinished) : cancelling(unfinished);
}

/** Stops the members, and gives up their places when none of them runs any more. */
function restart(gang: GangRow, members: readonly Member[]): GangFate {
  const running = members.filter(({ job }) => job.status === 'running');
  const succeeded = members.filter(hasSucceeded);
  const stop = !gang.stopping;
  if (running.length > 0)
    return { ...NOTHING, stop, events: eventsFor(running, () => ({ type: 'stop', success: null })) };
  if (succeeded.length > 0) {
    return { ...NOTHING, stop, events: eventsFor(succeeded, ({ success }) => ({ type: 'stop', success })) };
  }
  // Before the stop was written, another member may have started.
  return { ...NOTHING, stop, drop: gang.stopping ? 'always' : null };
}

/** It has come back from its worker, or has not started with the others because its worker vanished. */
function isBack({ now, online }: GangState): (member: Member) => boolean {
  return ({ place, job }) =>
    isWaiting(job.status) &&
    place.workerId !== null &&
    !hasSucceeded({ place, job }) &&
    (place.started || now > place.until || !online.has(place.workerId));
}

function isLeftOut({ place }: Member): boolean {
  return place.workerId === null;
}

function hasSucceeded({ place, job }: Member): boolean {
  return place.success !== null && job.status === 'blocked';
}

function cancelling(members: readonly Member[]): GangFate {
  return { ...NOTHING, events: eventsFor(members, () => ({ type: 'cancel' })) };
}

function eventsFor(members: readonly Member[], eventFor: (place: Place) => JobEvent): Map<number, JobEvent> {
  return new Map(members.map(({ place }) => [place.jobId, eventFor(place)]));
}

/** What a job waits for, in words that follow "waits for". */

import { countText } from '../count-text.ts';
import type { Waiting } from '../waiting.ts';

/** As many jobs are counted before one. */
const MAX_COUNTED = 10_000;

interface Telling {
  /** An instant as its reader wants it. */
  at: (instant: string) => string;
}

type Words = { [C in Waiting['code']]: (wait: Extract<Waiting, { code: C }>, telling: Telling) => string };

const WORDS: Words = {
  start_time: ({ at }, telling) => `its start time, ${telling.at(at)}`,
  retry: ({ at, failures, max_attempts }, telling) =>
    `its next attempt at ${telling.at(at)} (${failures} of ${max_attempts} attempts have failed)`,
  steps: ({ at, waits }, telling) => {
    const [first, ...others] = waits;
    const more = others.length === 0 ? '' : `, and for ${others.length} more`;
    return first === undefined
      ? 'its function, which is about to go on'
      : `${stepText(first)} until ${telling.at(first.until ?? at)}${more}`;
  },
  parent: ({ job, name, status, others }) =>
    `job ${job}${name === null ? '' : ` (${name})`}, which is ${status}${others === 0 ? '' : `, and ${others} more`}`,
  parents_ended: () => 'its parents, which have ended: it is about to be judged',
  stop: ({ for_gang }) =>
    for_gang ? 'its worker to stop it: its gang starts again' : 'its worker to stop it, as asked',
  paused: ({ queue }) => `queue ${queue} to be resumed: it is paused`,
  worker: (wait) => `${workerText(wait)}: none is online`,
  slot: ({ queue, ahead, worker, others }) => {
    const place = `a free slot: ${placeText(ahead)} in queue ${queue}`;
    if (worker === null) return place;
    if (worker.is_free) return `${place}; ${workerName(worker)} has room for it now`;
    const more = others === 0 ? '' : `, and ${others} more could run it`;
    return `${place}; ${workerName(worker)} runs ${worker.running} of ${worker.slots}${more}`;
  },
  resources: (wait, telling) =>
    `${listText(wait.resources)} of a worker: ${shortText(wait, telling)}; ${placeText(wait.ahead)} in queue ${wait.queue}`,
  max_running: ({ queue, running, max, kept, ahead, starts_at }, telling) => {
    const gangs = kept === 0 ? '' : `, and ${kept} are kept for gangs`;
    return `a place in queue ${queue}: ${running} of ${max} run (max_running)${gangs}, ${lineText(ahead)}${byText(starts_at, telling)}`;
  },
  limit: ({ key, running, max, ahead, starts_at }, telling) =>
    `a place under the limit of ${key}: ${running} of ${max} run, ${lineText(ahead)}${byText(starts_at, telling)}`,
  rate: ({ key, queue, started, max, per, opens_at, kept, ahead, starts_at }, telling) => {
    const gangs = kept === 0 ? '' : `, the next ${kept} are kept for gangs`;
    const isNext = ahead === 0 && kept === 0;
    const start = starts_at === null || isNext ? '' : `, expected to start at ${telling.at(starts_at)}`;
    const when = `it opens at ${telling.at(opens_at)}${gangs}; ${lineText(ahead)}${start}`;
    const rate = `the rate of ${key ?? `queue ${queue}`}`;
    return started < max
      ? `${rate}, which was closed: ${when}`
      : `${rate}: ${started} of ${max} have started within ${per / 1_000} s, ${when}`;
  },
  rate_kept: ({ queue, left, ahead }) =>
    `the rate of queue ${queue}: ${left} may start now, which is kept for gangs; ${lineText(ahead)}`,
  gang_succeeded: ({ succeeded, size }) =>
    `its gang: ${succeeded} of ${size} members have succeeded, and this one is among them`,
  gang_started: ({ members, size }) =>
    `its gang, which has started with ${members} of ${size} members: this one had no place, and is skipped if they succeed`,
  gang_stopping: () => 'its gang: the other members are being stopped, then all start again',
  gang_earlier: ({ members, size }) =>
    `its gang: ${members} of ${size} members are in an earlier run; it starts when they have ended`,
  gang_incomplete: ({ waiting, size, has_ended }) => {
    const rest = has_ended ? 'another one has ended, so this one is about to be cancelled' : 'the others are due later';
    return `its gang: ${waiting} of ${size} members wait; ${rest}`;
  },
  gang_start: () => 'its worker to start it: all places of its gang are held',
  gang_places: ({ held, members, worker }) =>
    `the places of its gang: ${held} of ${members} are held; ${workerName(worker)} has no room yet`,
  gang_max_running: ({ queue, max, needed }) =>
    `a higher max_running of queue ${queue}: it is ${max}, and its gang starts with at least ${needed}`,
  gang_rate: ({ queue, max, needed }) =>
    `a higher rate of queue ${queue}: it lets ${max} start at once, and its gang starts with at least ${needed}`,
  gang_room: ({ waiting, size, min, free, idle, needed }) => {
    const slots =
      waiting < size
        ? `${countText(waiting, 'free slot')} (${waiting} of the ${size} members of its gang)`
        : `${min < size ? `${min} to ${size} free slots` : countText(size, 'free slot')} (gang)`;
    if (idle < needed) return `${slots}: all online workers together have fewer, even when idle: ${idle}`;
    return `${slots}: ${free} are free now; the workers are busy, or another gang comes first`;
  },
  gang_queue_full: ({ queue, running, max, needed }) =>
    `places in queue ${queue}: ${running} of ${max} run (max_running), and its gang needs ${needed} at once`,
  gang_rate_left: ({ queue, left, needed, starts_at }, telling) =>
    `the rate of queue ${queue}: ${left} may start now, and its gang needs ${needed} at once${byText(starts_at, telling)}`,
};

export function waitingText(waiting: Waiting, telling: Telling): string {
  return (WORDS[waiting.code] as (wait: Waiting, telling: Telling) => string)(waiting, telling);
}

/** What holds for every job that waits for the same: `the limit of customer:42`; `null` if it differs from job to job. */
export function sharedWaitText(waiting: Waiting): string | null {
  switch (waiting.code) {
    case 'worker':
    case 'paused':
      return waitingText(waiting, { at: (instant) => instant });
    case 'limit':
      return `the limit of ${waiting.key}: ${waiting.running} of ${waiting.max} run`;
    case 'rate':
      return `the rate of ${waiting.key ?? `queue ${waiting.queue}`}`;
    case 'max_running':
      return `queue ${waiting.queue}: ${waiting.running} of ${waiting.max} run (max_running)`;
    case 'gang_room':
      return waitingText(waiting, { at: (instant) => instant });
    default:
      return null;
  }
}

function workerText({ lacks, what, resources, most }: Extract<Waiting, { code: 'worker' }>): string {
  switch (lacks) {
    case 'worker':
      return 'a worker';
    case 'queue':
      return `a worker that serves queue ${what}`;
    case 'commands':
      return 'a worker that runs commands';
    case 'handler':
    case 'tag':
      return `a worker with ${lacks} ${what}`;
    case 'resources':
      return `a worker with ${listText(resources)} (the most that one has: ${listText(most)})`;
    case 'all':
      return 'a worker that can run it';
  }
}

function shortText({ short, reserved }: Extract<Waiting, { code: 'resources' }>, telling: Telling): string {
  const until = reserved === null ? '' : reservedText(reserved.starts_at, telling);
  if (short === null && reserved !== null) {
    return `what ${workerName(reserved)} has free is reserved for job ${reserved.for_job}${until}`;
  }
  if (short === null) return 'jobs before it take what is free';
  const inUse = `${short.resource} is in use, at most ${short.free} of ${short.total} is free on ${workerName(short)}`;
  return reserved === null
    ? inUse
    : `${inUse}; what becomes free on ${workerName(reserved)} is reserved for it${until}`;
}

function reservedText(startsAt: string | null, telling: Telling): string {
  return startsAt === null ? ', expected to start when a run without a known end has ended' : byText(startsAt, telling);
}

function byText(startsAt: string | null, telling: Telling): string {
  return startsAt === null ? '' : `, expected to start by ${telling.at(startsAt)}`;
}

function workerName({ id, name }: { id: string; name: string }): string {
  return `worker ${id} (${name})`;
}

function listText(resources: Readonly<Record<string, number>>): string {
  return Object.entries(resources)
    .map(([name, amount]) => `${name} ${amount}`)
    .join(', ');
}

function placeText(ahead: number): string {
  if (ahead === 0) return 'it is next';
  return `${ahead >= MAX_COUNTED ? `${ahead} or more` : ahead} ${ahead === 1 ? 'job' : 'jobs'} before it`;
}

function lineText(ahead: number): string {
  return ahead >= MAX_COUNTED ? placeText(ahead) : `${ordinal(ahead + 1)} in line`;
}

function ordinal(place: number): string {
  const isTeen = place % 100 >= 11 && place % 100 <= 13;
  const ending = isTeen ? 'th' : (['th', 'st', 'nd', 'rd'][place % 10] ?? 'th');
  return `${place}${ending}`;
}

/** What a suspended function waits for. */
function stepText({ name, kind, tries }: Extract<Waiting, { code: 'steps' }>['waits'][number]): string {
  return kind === 'sleep' ? `its sleep ${name}` : `the next try of its step ${name} (${tries} failed)`;
}

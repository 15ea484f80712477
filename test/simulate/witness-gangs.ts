/** Checks gangs from the places of their members, and from what the members themselves show. */

import type { Attempt } from '../../src/core/attempt-end.ts';
import { needsAll, type Place } from '../../src/core/gang.ts';
import type { ClaimedJob, Job } from '../../src/core/job.ts';

type Fail = (rule: string, message: string) => void;

/** After a claim of these jobs: of each gang among them, all that start have places that are held, and these are enough. */
export function checkPlaces(claimed: readonly ClaimedJob[], places: readonly Place[], fail: Fail): void {
  for (const { id, gang, gangContext } of claimed) {
    if (gang === null) continue;
    const own = places.filter(({ gangId }) => gangId === gang.id);
    const placed = own.filter(({ workerId }) => workerId !== null);
    if (own.some(({ accepted }) => !accepted))
      fail('gangs start together', `job ${id} started before all places were held`);
    if (placed.length < gang.min || own.length < gang.size)
      fail('gangs start together', `job ${id} started with ${placed.length} places of ${gang.min} to ${gang.size}`);
    if (gangContext?.hosts.length !== placed.length)
      fail(
        'gangs start together',
        `job ${id} was told of ${gangContext?.hosts.length} members; ${placed.length} start`,
      );
  }
}

/** A member pays for what it did itself, and for nothing else. */
export function checkCharge(job: Job, counted: { failures: number; interruptions: number }, fail: Fail): void {
  if (job.failures <= counted.failures && job.interruptions <= counted.interruptions) return;
  fail(
    'members that did nothing wrong pay nothing',
    `job ${job.id} counts ${job.failures} failures and ${job.interruptions} interruptions; its records have ${counted.failures} and ${counted.interruptions}`,
  );
}

/** At the end: the members of a gang are done together, or none is. */
export function checkEnds(jobs: readonly Job[], fail: Fail): void {
  for (const [id, members] of Map.groupBy(jobs.filter(needsAll), ({ gang }) => gang?.id)) {
    const done = members.filter(({ status }) => status === 'done').length;
    const others = members.filter(({ status, reason }) => status !== 'done' && reason !== 'gang');
    if (done > 0 && others.length > 0)
      fail(
        'gangs end together',
        `gang ${id}: ${done} members are done, and job ${others[0]?.id} is ${others[0]?.status}`,
      );
    if (done > 0 && done < (members[0]?.gang?.min ?? 0))
      fail('gangs end together', `gang ${id}: only ${done} are done`);
  }
}

/** True for the last attempt of a member that has succeeded before the others, whose record is written with theirs. */
export function awaitsRecord(job: Job, records: readonly Attempt[]): boolean {
  return needsAll(job) && job.status !== 'running' && job.status !== 'done' && records.length === job.attempt - 1;
}

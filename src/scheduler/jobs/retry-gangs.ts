/** Which jobs are retried together: the members of a gang, in one transaction. */

import { isWorkronError, WorkronError } from '../../core/error.ts';
import { needsAll } from '../../core/gang.ts';
import { isTerminal, type Job } from '../../core/job.ts';
import type { SchedulerContext } from '../context.ts';
import { gangMembers } from './gang-members.ts';

export type Member = Pick<Job, 'id' | 'gang' | 'status' | 'reason'>;

/**
 * The jobs that have to be retried with this one, in one transaction: the members of its gang that have not succeeded. Throws
 * `illegal_transition` while a member of the gang still runs, and if one is done or deleted, unless the members go on without each other.
 */
export async function retriedWith(context: SchedulerContext, job: Member, signal: AbortSignal): Promise<number[]> {
  // One that its gang has left out says so itself.
  if (job.gang === null || !isTerminal(job.status) || job.reason === 'gang') return [job.id];
  const { store } = context;
  const { id } = job.gang;
  if (needsAll(job)) {
    const places = (await store.places(signal)).filter(({ gangId }) => gangId === id);
    const members = await store.read(
      places.map(({ jobId }) => jobId),
      signal,
    );
    const open = members.find(({ status }) => !isTerminal(status));
    if (open !== undefined) {
      const why = `job ${open.id} of its gang is ${open.status}, and is being stopped`;
      throw new WorkronError('illegal_transition', `Cannot retry job ${job.id} yet: ${why}`, { jobId: job.id });
    }
  }
  const members = await gangMembers(context, { id, statuses: ['failed', 'cancelled', 'skipped'] }, signal);
  const ids = [...new Set([job.id, ...members.map((member) => member.id)])];
  if (needsAll(job) && ids.length < job.gang.size) {
    const left = `only ${ids.length} of its gang's ${job.gang.size} members can be retried, and it starts with all`;
    throw new WorkronError('illegal_transition', `Cannot retry job ${job.id}: ${left}; submit the gang again`, {
      jobId: job.id,
    });
  }
  return ids;
}

/**
 * The jobs to retry if all of these are: members of gangs with the others, gang by gang. Throws as `retriedWith` does; with `lenient`, gangs that
 * cannot be retried are left out.
 */
export async function retriedTogether(
  context: SchedulerContext,
  jobs: readonly Member[],
  { lenient }: { lenient: boolean },
  signal: AbortSignal,
): Promise<{ single: number[]; gangs: number[][] }> {
  const isMember = ({ gang, status }: Member) => gang !== null && isTerminal(status);
  const firsts = new Map(jobs.filter(isMember).map((job) => [job.gang?.id, job]));
  const gangs: number[][] = [];
  for (const job of firsts.values()) {
    const members = await retriedWith(context, job, signal).catch((error: unknown) => {
      if (lenient && isWorkronError(error, 'illegal_transition')) return [];
      throw error;
    });
    gangs.push(members);
  }
  return { single: jobs.filter((job) => !isMember(job)).map(({ id }) => id), gangs };
}

/** What a person does to one member of a gang is meant for all of them, unless the members go on without each other. */

import { WorkronError } from '../../core/error.ts';
import { gangTag, needsAll } from '../../core/gang.ts';
import { isTerminal, type Job, WAITING_STATUSES } from '../../core/job.ts';
import type { SchedulerContext } from '../context.ts';
import { changeAll } from './change-all.ts';

/** No gang is larger. */
const MAX_MEMBERS = 1_000;

export type Member = Pick<Job, 'id' | 'gang' | 'status' | 'reason'>;

/** Cancels the other members of the gangs of these jobs. With `continue`, a member is cancelled by itself. */
export async function cancelGangs(
  context: SchedulerContext,
  jobs: readonly Pick<Job, 'gang'>[],
  signal: AbortSignal,
): Promise<void> {
  for (const id of new Set(jobs.filter(needsAll).map(({ gang }) => gang?.id ?? ''))) {
    const filter = { tags: [gangTag(id)], statuses: ['running' as const, ...WAITING_STATUSES] };
    await changeAll(context, { action: 'cancel', filter }, signal);
  }
}

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
  const members = await store.list(
    { tags: [gangTag(id)], statuses: ['failed', 'cancelled', 'skipped'] },
    { before: null, limit: MAX_MEMBERS },
    signal,
  );
  const ids = [...new Set([job.id, ...members.map((member) => member.id)])];
  if (needsAll(job) && ids.length < job.gang.size) {
    const left = `only ${ids.length} of its gang's ${job.gang.size} members can be retried, and it starts with all`;
    throw new WorkronError('illegal_transition', `Cannot retry job ${job.id}: ${left}; submit the gang again`, {
      jobId: job.id,
    });
  }
  return ids;
}

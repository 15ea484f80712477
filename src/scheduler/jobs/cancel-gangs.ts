/** A cancel of one member of a gang is meant for all of them, unless the members go on without each other. */

import { gangTag, needsAll } from '../../core/gang.ts';
import { type Job, WAITING_STATUSES } from '../../core/job.ts';
import type { SchedulerContext } from '../context.ts';
import { changeAll } from './change-all.ts';

/** Cancels the other members of the gangs of these jobs. With `continue`, a member is cancelled by itself. */
export async function cancelGangs(
  context: SchedulerContext,
  jobs: readonly Pick<Job, 'gang'>[],
  signal: AbortSignal,
): Promise<void> {
  for (const id of new Set(jobs.filter(needsAll).map(({ gang }) => gang?.id ?? ''))) {
    const filter = { tags: [gangTag(id)], statuses: ['running' as const, ...WAITING_STATUSES] };
    await changeAll(context, { action: 'cancel', filter, except: ({ gang }) => gang?.id !== id }, signal);
  }
}

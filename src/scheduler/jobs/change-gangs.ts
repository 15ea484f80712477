/** What a person does to one member of a gang is meant for all of them, unless the members go on without each other. */

import { gangTag } from '../../core/gang.ts';
import { type Job, type Status, WAITING_STATUSES } from '../../core/job.ts';
import type { SchedulerContext } from '../context.ts';
import { changeAll } from './change-all.ts';

const WITH_MEMBER: Record<'cancel' | 'retry', readonly Status[]> = {
  cancel: ['running', ...WAITING_STATUSES],
  retry: ['failed', 'cancelled', 'skipped'],
};

/** Does with the other members of their gangs what was done to these jobs. Of `continue`, only a retry: all are placed together. */
export async function changeGangs(
  context: SchedulerContext,
  jobs: readonly Pick<Job, 'gang' | 'groupId'>[],
  { action, signal }: { action: 'cancel' | 'retry'; signal: AbortSignal },
): Promise<void> {
  const members = jobs.filter(
    ({ gang }) => gang !== null && (action === 'retry' || gang.onMemberFailure !== 'continue'),
  );
  for (const id of new Set(members.map(({ gang }) => gang?.id ?? ''))) {
    const filter = { tags: [gangTag(id)], statuses: [...WITH_MEMBER[action]] };
    await changeAll(context, { action, filter }, signal);
  }
}

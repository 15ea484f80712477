import { gangTag } from '../../core/gang.ts';
import type { Job, Status } from '../../core/job.ts';
import type { SchedulerContext } from '../context.ts';

/** No gang is larger. */
const MAX_MEMBERS = 1_000;

/** The members of a gang in these states. Other jobs may have its tag, too: anybody may give it. */
export async function gangMembers(
  { store }: Pick<SchedulerContext, 'store'>,
  { id, statuses }: { id: string; statuses: readonly Status[] },
  signal: AbortSignal,
): Promise<Job[]> {
  const jobs = await store.list({ tags: [gangTag(id)], statuses }, { before: null, limit: MAX_MEMBERS }, signal);
  return jobs.filter(({ gang }) => gang?.id === id);
}

/** Counts and logs what the store did beside what it was asked for: children and groups that ended, items of groups. */

import { NEVER } from '../core/never.ts';
import type { SideEffects } from '../store/hint.ts';
import type { SchedulerContext } from './context.ts';

/** Jobs that are read at once. */
const PIECE = 1_000;

/** Counts until disposed of; that waits for what is still to be counted. */
export function countSideEffects(context: SchedulerContext): AsyncDisposable {
  let counting: Promise<void> = Promise.resolve();
  const stop = context.store.observe((effects) => {
    counting = counting
      .then(() => count(context, effects))
      .catch((error: unknown) => {
        context.log.debug({ error }, 'could not count jobs that ended because of others');
      });
  });
  return {
    async [Symbol.asyncDispose]() {
      stop();
      await counting;
    },
  };
}

async function count({ store, clock, telemetry }: SchedulerContext, { ended, items }: SideEffects): Promise<void> {
  for (let start = 0; start < ended.length; start += PIECE) {
    const jobs = await store.read(ended.slice(start, start + PIECE), NEVER);
    for (const job of jobs) telemetry.endedByGraph(job);
  }
  if (items.length === 0) return;
  const groups = await store.read([...new Set(items.map(({ groupId }) => groupId))], NEVER);
  const queues = new Map(groups.map(({ id, queue }) => [id, queue]));
  for (const { groupId, count } of items) {
    const queue = queues.get(groupId);
    if (queue !== undefined) telemetry.started({ [queue]: count }, clock.now(), { group_id: groupId });
  }
}
